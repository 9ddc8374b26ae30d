package strictjson_test

import (
	"fmt"
	"io"
	"strings"

	"pushbox/internal/strictjson"
)

// A Decoder is pulled along by its caller. A member that the caller does not read is
// skipped.
func ExampleDecoder() {
	d := strictjson.NewDecoder(strings.NewReader(`{"name":"wifi","tags":["home","5 GHz"],"other":{"a":1}}`))
	var name string
	var tags []string
	err := d.Object(func(key string) (err error) {
		switch key {
		case "name":
			name, err = d.String(255)
		case "tags":
			err = d.Array(func() error {
				tag, err := d.String(64)
				tags = append(tags, tag)
				return err
			})
		}
		return err
	})
	if err == nil {
		err = d.End()
	}
	fmt.Println(name, tags, err)
	// Output: wifi [home 5 GHz] <nil>
}

// What encoding/json reads in its own way is refused here.
func ExampleDecoder_strict() {
	for _, text := range []string{`{"a":1,"a":2}`, "\"\xff\"", `"\ud800"`, `{"a":1} {}`} {
		d := strictjson.NewDecoder(strings.NewReader(text))
		fmt.Println(d.End())
	}
	// Output:
	// a key appears twice in an object at byte 11
	// the text is not valid UTF-8 at byte 1
	// an incomplete surrogate pair at byte 1
	// a second value at byte 8
}

// Text reads a string of any length in bounded memory.
func ExampleDecoder_Text() {
	d := strictjson.NewDecoder(strings.NewReader(`"line 1\nline 2"`))
	text, err := d.Text()
	if err != nil {
		return
	}
	content, err := io.ReadAll(text)
	fmt.Printf("%q %v %v", content, err, d.End())
	// Output: "line 1\nline 2" <nil> <nil>
}
