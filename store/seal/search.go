package seal

// OpensRing reports whether b begins with a sealed key ring that the key opens, of any
// format, whatever follows it. Where it does not, a holder of the key learns nothing
// from b.
func (k RootKey) OpensRing(b []byte) bool {
	fixed, record := keySize, keyRecord
	if isVersion1(b) {
		fixed, record = firstRingFixed, firstKEKRecord
	}
	for n := plainHead + overhead + fixed + record; n <= len(b); n += record {
		if _, err := OpenRing(k, b[:n]); err == nil {
			return true
		}
	}
	return false
}
