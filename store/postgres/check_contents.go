package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// contentStep is about how many bytes of payloads and chunks a step reads.
const contentStep = 16

// CheckContents compares every payload and every chunk with its stored digest, some at a time.
func (db *DB) CheckContents(ctx context.Context, report func(problem string), progress func(done, total int64)) (cover record.Coverage, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return cover, err
	}
	defer done()
	total, err := db.measure(ctx, "select pg_database_size(current_database())")
	if err != nil {
		return cover, err
	}
	r := &contentReader{db: db, report: report, read: func(data []byte) {
		cover.Bytes += int64(len(data))
		progress(cover.Bytes, max(total, cover.Bytes))
	}}
	for last := []byte{}; err == nil && last != nil; {
		last, err = r.payloads(ctx, last, &cover.Payloads)
	}
	for last := (&place{id: []byte{}}); err == nil && last != nil; {
		last, err = r.chunks(ctx, *last, &cover.Chunks)
	}
	if err == nil {
		progress(cover.Bytes, cover.Bytes)
	}
	return cover, err
}

// A contentReader compares payloads and chunks with their sums, a step at a time.
type contentReader struct {
	db     *DB
	report func(problem string)
	read   func(data []byte)
}

// payloads reads some payloads after the given ID, and returns the last ID; nil at the end.
func (r *contentReader) payloads(ctx context.Context, from []byte, n *int64) (last []byte, err error) {
	err = r.db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		last = nil
		rows, err := c.Query(ctx, "select id, sum, data from payload where id > $1 order by id limit $2", from, contentStep)
		if err != nil {
			return err
		}
		var id, data []byte
		var sum int64
		_, err = pgx.ForEachRow(rows, []any{&id, &sum, &data}, func() error {
			if digest(data) != sum {
				r.report(fmt.Sprintf("push %s: its payload has changed since it was written", idOf(id)))
			}
			*n++
			r.read(data)
			last = bytes.Clone(id)
			return nil
		})
		return err
	})
	return last, err
}

// A place is the key of a chunk.
type place struct {
	id           []byte
	file, number int64
}

// chunks reads some chunks after the given place, and returns the last place; nil at the end.
func (r *contentReader) chunks(ctx context.Context, from place, n *int64) (last *place, err error) {
	err = r.db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		last = nil
		rows, err := c.Query(ctx, "select id, file, number, sum, data from chunk where (id, file, number) > ($1, $2::integer, $3) order by id, file, number limit $4",
			from.id, int32(from.file), from.number, contentStep)
		if err != nil {
			return err
		}
		var at place
		var data []byte
		var sum int64
		_, err = pgx.ForEachRow(rows, []any{&at.id, &at.file, &at.number, &sum, &data}, func() error {
			if digest(data) != sum {
				r.report(fmt.Sprintf("push %s: chunk %d of file %d has changed since it was written", idOf(at.id), at.number, at.file))
			}
			*n++
			r.read(data)
			last = &place{bytes.Clone(at.id), at.file, at.number}
			return nil
		})
		return err
	})
	return last, err
}

func chunkKey(id []byte, file, number int64) []byte {
	k := binary.BigEndian.AppendUint16(append(make([]byte, 0, len(id)+6), id...), uint16(file))
	return binary.BigEndian.AppendUint32(k, uint32(number))
}
