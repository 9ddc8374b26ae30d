package server

import (
	"image"
	"image/color"
	"strconv"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// A qrImage is a QR code (ISO/IEC 18004) as one path of an SVG.
type qrImage struct {
	Size int    // of a side, in modules, with the quiet zone
	Path string // of all dark modules
}

// quietZone is how many light modules are around a code.
const quietZone = 4

// newQR makes the code of a text: one that bears damage, unless only one that
// bears little of it can hold as much. An error says that none can.
func newQR(text string) (qrImage, error) {
	code, err := qr.Encode(text, qr.M, qr.Unicode)
	if err != nil {
		code, err = qr.Encode(text, qr.L, qr.Unicode)
	}
	if err != nil {
		return qrImage{}, err
	}
	return drawQR(code), nil
}

// linkQR is the code of a link; nil where it is too long for one, as a base_url
// may make it.
func linkQR(link string) *qrImage {
	code, err := newQR(link)
	if err != nil {
		return nil
	}
	return &code
}

// drawQR draws each run of dark modules in a row as a rectangle.
func drawQR(code image.Image) qrImage {
	var path strings.Builder
	side := code.Bounds().Dx()
	dark := func(x, y int) bool { return x < side && code.At(x, y) == color.Black }
	for y := range side {
		for x := 0; x < side; x++ {
			run := 0
			for dark(x+run, y) {
				run++
			}
			if run == 0 {
				continue
			}
			path.WriteString("M" + strconv.Itoa(x+quietZone) + " " + strconv.Itoa(y+quietZone) + "h" + strconv.Itoa(run) + "v1h-" + strconv.Itoa(run) + "z")
			x += run
		}
	}
	return qrImage{Size: side + 2*quietZone, Path: path.String()}
}
