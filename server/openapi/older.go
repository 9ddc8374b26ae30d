package openapi

// Older returns the document in the form of OpenAPI 3.0 (https://spec.openapis.org/oas/v3.0.3), for
// importers that read nothing newer. It says the same of paths, parameters and answers. Of bodies it
// leaves out what depends on the kind of a push, which OpenAPI 3.0 has no words for: descriptions have it.
func Older(document Object) Object {
	out := olderObject(document)
	out.Set("openapi", "3.0.3")
	return out
}

// older converts the value of a member.
func older(name string, v any) any {
	switch v := v.(type) {
	case []any:
		list := []any{}
		for _, item := range v {
			if o, isObject := item.(Object); !isObject || len(older("", o).(Object)) > 0 || len(o) == 0 {
				list = append(list, older("", item))
			}
		}
		return list
	case []Object:
		list := make([]Object, len(v))
		for i, o := range v {
			list[i] = olderObject(o)
		}
		return list
	case Object:
		if name != "properties" { // whose members are names, not words of the specification
			return olderObject(v)
		}
		var out Object
		for _, m := range v {
			out.Set(m.Name, older("", m.Value))
		}
		return out
	default:
		return v
	}
}

func olderObject(o Object) Object {
	if to := o.Get("$ref"); to != nil {
		return Object{{"$ref", to}} // in 3.0 nothing may be beside it
	}
	out := Object{}
	for _, m := range o {
		switch m.Name {
		case "if", "then", "unevaluatedProperties":
		case "identifier": // of a license
			id, _ := m.Value.(string)
			out.Set("url", "https://spdx.org/licenses/"+id+".html")
		case "contentMediaType":
			out.Set("format", "binary")
		case "contentEncoding":
			out.Set("format", "byte")
		case "example", "examples", "enum", "required":
			out = append(out, m)
		case "type":
			out = append(out, olderType(m.Value)...)
		default:
			v := older(m.Name, m.Value)
			if list, isList := v.([]any); isList && len(list) == 0 && m.Name == "allOf" {
				continue
			}
			out.Set(m.Name, v)
		}
	}
	return out
}

// olderType returns the members for a type: one of two types of which the second is null, null, or one type.
func olderType(of any) Object {
	types, isList := of.([]any)
	switch {
	case isList:
		return Object{{"type", types[0]}, {"nullable", true}}
	case of == "null":
		return Object{{"type", "string"}, {"nullable", true}}
	default:
		return Object{{"type", of}}
	}
}
