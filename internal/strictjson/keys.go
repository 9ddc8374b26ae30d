package strictjson

// fewKeys is how many keys are compared one by one; most objects have fewer.
const fewKeys = 16

// keys are the keys of one object that were read so far.
type keys struct {
	few  []string            // while they are few
	many map[string]struct{} // all of them, once they are more
}

// add notes a key and returns the reason to refuse it, if there is one.
func (k *keys) add(key string) (reason string) {
	if k.many == nil {
		for _, other := range k.few {
			if other == key {
				return reasonDuplicate
			}
		}
		if len(k.few) < fewKeys {
			k.few = append(k.few, key)
			return ""
		}
		k.many = make(map[string]struct{}, 4*fewKeys)
		for _, other := range k.few {
			k.many[other] = struct{}{}
		}
	}
	if _, ok := k.many[key]; ok {
		return reasonDuplicate
	}
	if len(k.many) == MaxMembers {
		return reasonMembers
	}
	k.many[key] = struct{}{}
	return ""
}

// key reads the key of a member and the colon after it.
func (d *Decoder) key() (string, error) {
	c, err := d.next()
	if err != nil {
		return "", err
	}
	if c != '"' {
		return "", d.syntax(reasonKey)
	}
	key, err := d.text(MaxKey)
	if err == ErrTooLong || d.held+len(key) > MaxKeys {
		return "", d.syntax(reasonKeyLength)
	}
	if err != nil {
		return "", err
	}
	d.held += len(key)
	c, err = d.next()
	if err != nil {
		return "", err
	}
	if c != ':' {
		return "", d.syntax(reasonColon)
	}
	d.pos++
	return key, nil
}
