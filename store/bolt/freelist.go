package bolt

import (
	"fmt"
	"reflect"

	"go.etcd.io/bbolt"
)

// A freeList reads the list of free pages that bbolt keeps in memory. bbolt has no function that
// tells which free pages a transaction may still read, so this one reads the fields themselves, by
// reflection, and changes none of them. The fields are those of bbolt 1.5.0,
// internal/freelist/shared.go and hashmap.go. With a bbolt that lacks them newFreeList returns an
// error, and files cannot be opened.
//
// Only a writing transaction changes these fields. So only the goroutine of such a transaction may
// read them, or any goroutine while there is none.
type freeList struct {
	pending reflect.Value // a transaction → the pages that it freed and that some reader may still read
	spans   reflect.Value // the first page of each run of other free pages → its length
	txid    reflect.Value // a key of pending
	ids     []int         // the field of a value of pending that has the pages
}

func newFreeList(b *bbolt.DB) (*freeList, error) {
	list, err := field(reflect.ValueOf(b), "freelist", reflect.Interface)
	if err != nil {
		return nil, err
	}
	shared, err := field(list, "shared", reflect.Pointer)
	if err != nil {
		return nil, err
	}
	f := new(freeList)
	if f.pending, err = field(shared, "pending", reflect.Map); err != nil {
		return nil, err
	}
	if f.spans, err = field(list, "forwardMap", reflect.Map); err != nil {
		return nil, err
	}
	numbers := []reflect.Type{f.pending.Type().Key(), f.spans.Type().Key(), f.spans.Type().Elem()}
	freed := f.pending.Type().Elem()
	if freed.Kind() != reflect.Pointer || freed.Elem().Kind() != reflect.Struct {
		return nil, unknownList("pending", freed)
	}
	ids, ok := freed.Elem().FieldByName("ids")
	if !ok || ids.Type.Kind() != reflect.Slice {
		return nil, unknownList("ids", freed)
	}
	for _, n := range append(numbers, ids.Type.Elem()) {
		if n.Kind() != reflect.Uint64 {
			return nil, unknownList("number", n)
		}
	}
	f.ids, f.txid = ids.Index, reflect.New(f.pending.Type().Key()).Elem()
	return f, nil
}

// field returns a field of the struct that v leads to.
func field(v reflect.Value, name string, kind reflect.Kind) (reflect.Value, error) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return v, fmt.Errorf("bbolt's list of free pages is not loaded: no %s", name)
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return v, unknownList(name, v.Type())
	}
	found := v.FieldByName(name)
	if !found.IsValid() || found.Kind() != kind {
		return v, unknownList(name, v.Type())
	}
	return found, nil
}

func unknownList(name string, t reflect.Type) error {
	return fmt.Errorf("this bbolt keeps its list of free pages in a way that pushbox does not know: %s in %s", name, t)
}

// freedBy calls fn with each page that a transaction freed, and that has not been
// released since.
func (f *freeList) freedBy(txid int, fn func(page uint64)) {
	f.txid.SetUint(uint64(txid))
	if freed := f.pending.MapIndex(f.txid); freed.IsValid() {
		f.eachPage(freed, fn)
	}
}

// held returns the pages that are free and that a reader may still read; nil for none.
func (f *freeList) held() map[uint64]bool {
	if f.pending.Len() == 0 {
		return nil
	}
	held := make(map[uint64]bool)
	for all := f.pending.MapRange(); all.Next(); {
		f.eachPage(all.Value(), func(page uint64) { held[page] = true })
	}
	return held
}

func (f *freeList) eachPage(freed reflect.Value, fn func(page uint64)) {
	ids := freed.Elem().FieldByIndex(f.ids)
	for i := range ids.Len() {
		fn(ids.Index(i).Uint())
	}
}

// each calls fn with each page that is free, whether or not a reader may still read it.
func (f *freeList) each(fn func(page uint64)) {
	for all := f.spans.MapRange(); all.Next(); {
		first := all.Key().Uint()
		for i := range all.Value().Uint() {
			fn(first + i)
		}
	}
	for all := f.pending.MapRange(); all.Next(); {
		f.eachPage(all.Value(), fn)
	}
}
