package store_test

import (
	"fmt"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/storetest"

	"pushbox/internal/testkit/env"
)

// BenchmarkLists measures the first page of an owner's list, and a page of an audit
// log, beside more and more pushes: 100, 10,000 and as many as PUSHBOX_BENCH_STORED
// says (100,000). The ratios are to those beside 100.
func BenchmarkLists(b *testing.B) {
	const usual = 100_000
	most := int(env.Number(b, "PUSHBOX_BENCH_STORED", usual))
	f := storetest.New(b, anyViews)
	alice := f.Account("alice@example.com")
	first := make(map[string]time.Duration)
	stored := 0
	var viewed store.Token // has an audit log
	for _, n := range []int{100, 10_000, most} {
		tokens := createMany(b, f, alice, n-stored, 7)
		stored = n
		viewed = tokens[0]
		for range 20 {
			if _, err := f.Retrieve(ctx, anonymous, viewed, secret.Text{}, nil); err != nil {
				b.Fatal(err)
			}
		}
		for name, list := range map[string]func() error{
			"first-page": func() error { return listPage(f, alice, 1) },
			"audit": func() error {
				_, err := f.Audit(ctx, alice, viewed, 1)
				return err
			},
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					env.OK(b, list())
				}
				each := b.Elapsed() / time.Duration(b.N)
				if n == 100 {
					first[name] = each
				}
				b.ReportMetric(each.Seconds()/first[name].Seconds(), "ratio")
			})
		}
	}
}

func listPage(f *storetest.Fixture, by store.Actor, page int) error {
	list, err := f.Pushes(ctx, by, true, page)
	if err == nil && len(list) != store.PageSize {
		err = fmt.Errorf("a page of %d", len(list))
	}
	return err
}
