package seal

import (
	"strings"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

func BenchmarkMAC(b *testing.B) {
	r, token := NewRing(birth), testToken.Reveal()
	b.ReportAllocs()
	for b.Loop() {
		r.MAC(token)
	}
}

func BenchmarkWrap(b *testing.B) {
	r, dek := NewRing(birth), NewDEK()
	b.ReportAllocs()
	for b.Loop() {
		r.Wrap(birth, testID, testToken, secret.Text{}, dek, Cost{})
	}
}

func BenchmarkOpenWrap(b *testing.B) {
	r := NewRing(birth)
	wrap := r.Wrap(birth, testID, testToken, secret.Text{}, NewDEK(), Cost{})
	b.ReportAllocs()
	for b.Loop() {
		_, err := r.OpenWrap(wrap, testID, testToken, secret.Text{})
		env.OK(b, err)
	}
}

func BenchmarkOpenWrapWithPassphrase(b *testing.B) {
	r := NewRing(birth)
	wrap := r.Wrap(birth, testID, testToken, testWords, NewDEK(), Cost{})
	b.ReportAllocs()
	for b.Loop() {
		_, err := r.OpenWrap(wrap, testID, testToken, testWords)
		env.OK(b, err)
	}
}

func BenchmarkPayload(b *testing.B) {
	for name, size := range map[string]int{"100B": 100, "1MiB": 1 << 20} {
		dek, text := NewDEK(), secret.New(strings.Repeat("x", size))
		sealed := dek.SealPayload(testID, 1, text)
		b.Run("seal/"+name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				dek.SealPayload(testID, 1, text)
			}
		})
		b.Run("open/"+name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				_, err := dek.OpenPayload(testID, 1, sealed)
				env.OK(b, err)
			}
		})
	}
}

func BenchmarkDetails(b *testing.B) {
	r, plain := NewRing(birth), make([]byte, 64)
	sealed := r.SealDetails(testID, plain)
	b.Run("seal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.SealDetails(testID, plain)
		}
	})
	b.Run("open", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := r.OpenDetails(testID, sealed)
			env.OK(b, err)
		}
	})
}

func BenchmarkFile(b *testing.B) {
	c := NewDEK().FilesKey().File(testBlob)
	plain := make([]byte, ChunkSize)
	sealed := c.Seal(nil, 7, false, plain)
	b.Run("seal", func(b *testing.B) {
		dst := make([]byte, 0, ChunkSize+ChunkOverhead)
		b.ReportAllocs()
		b.SetBytes(ChunkSize)
		for b.Loop() {
			c.Seal(dst, 7, false, plain)
		}
	})
	b.Run("open", func(b *testing.B) {
		dst := make([]byte, 0, ChunkSize)
		b.ReportAllocs()
		b.SetBytes(ChunkSize)
		for b.Loop() {
			_, err := c.Open(dst, 7, false, sealed)
			env.OK(b, err)
		}
	})
}
