package server

import (
	"pushbox/internal/strictjson"
	"pushbox/store"
)

// mailPush has the link of a push sent by mail.
func (s *Server) mailPush(r *request) (reply, error) {
	f, err := s.readNotify(r)
	if err != nil {
		return reply{}, err
	}
	in := form{fields: f}
	m := in.mailing()
	if err := in.bad.Err(); err != nil {
		return reply{}, err
	}
	if m == nil {
		m = new(store.Mailing)
	}
	m.Link = linksFrom(r.base)
	p, err := s.store.MailPush(r.Context(), r.actor, r.urlToken, *m)
	if err != nil {
		return reply{}, err
	}
	return created(newPushJSON(p, r.base)), nil
}

// readNotify reads a small body whose fields are those of a push, within a push object
// or without one.
func (s *Server) readNotify(r *request) (fields, error) {
	media, params, err := bodyType(r)
	if err != nil {
		return nil, err
	}
	b := &r.Body
	if b.limit = smallBody; r.ContentLength > b.limit {
		return nil, errTooLarge
	}
	f := make(fields)
	switch media {
	case typeJSON:
		err = f.readFlat(strictjson.NewDecoder(b))
	case typeMultipart:
		var pairs []pair
		pairs, err = multipartPairs(b, params["boundary"])
		err = f.take(pairs, err)
	default:
		var pairs []pair
		pairs, err = readPairs(b)
		err = f.take(pairs, err)
	}
	if err == nil {
		err = b.end()
	}
	if err != nil {
		b.leave()
		return nil, bodyError(err)
	}
	return f, nil
}

// readFlat reads an object that has fields itself, or a push object with them.
func (f fields) readFlat(d *strictjson.Decoder) error {
	if d.Kind() != strictjson.Object {
		if err := d.Skip(); err != nil {
			return err
		}
		return errNoFields
	}
	err := d.Object(func(key string) error {
		if key == "push" && d.Kind() == strictjson.Object {
			return d.Object(func(key string) error { return f.readOne(d, key) })
		}
		return f.readOne(d, key)
	})
	if err != nil {
		return err
	}
	return d.End()
}

func (f fields) readOne(d *strictjson.Decoder, key string) error {
	v, err := readValue(d)
	if err != nil {
		return err
	}
	return f.once(key, v)
}

// take takes the fields of a form.
func (f fields) take(pairs []pair, err error) error {
	for _, p := range pairs {
		key, v := p.name, value{shape: asText, text: p.text}
		if inner, single, ok := bracketName(p.name); ok {
			if key = inner; !single {
				v = value{shape: asList}
			}
		}
		if err == nil {
			err = f.once(key, v)
		}
	}
	return err
}

// once notes a field that may be there once.
func (f fields) once(key string, v value) error {
	if _, twice := f[key]; twice {
		return errTwice
	}
	f[key] = v
	return nil
}
