package display

import (
	"image"
	"image/color"
	"strconv"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// A QR is a QR code (ISO/IEC 18004) as one path of an SVG.
type QR struct {
	Size int    // modules a side, with the quiet zone; style.css says how large the page shows it (figure.qr)
	Path string // draws all dark modules
}

// quietZone is how many light modules are around a code.
const quietZone = 4

// NewQR returns the code of a text: with medium error correction, or with low if only
// that can hold the text. It returns an error if the text is too long for both.
func NewQR(text string) (QR, error) {
	code, err := qr.Encode(text, qr.M, qr.Unicode)
	if err != nil {
		code, err = qr.Encode(text, qr.L, qr.Unicode)
	}
	if err != nil {
		return QR{}, err
	}
	return drawQR(code), nil
}

// LinkQR returns the code of a link; nil if the link is too long for one, as a long
// base_url may make it.
func LinkQR(link string) *QR {
	code, err := NewQR(link)
	if err != nil {
		return nil
	}
	return &code
}

// drawQR draws each run of dark modules in a row as a rectangle.
func drawQR(code image.Image) QR {
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
	return QR{Size: side + 2*quietZone, Path: path.String()}
}
