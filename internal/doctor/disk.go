package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// checkSpace compares what is there with where creates are refused.
func checkSpace(_ context.Context, s *Subject) (all []Finding) {
	free, known, err := freeSpace(s.Config.DataDir)
	least := int64(s.Config.Limits.MinFreeSpace)
	switch {
	case err != nil:
		all = append(all, skipped("%v", err))
	case !known:
		all = append(all, skipped("this system does not tell"))
	case free < least:
		all = append(all, problem("make room, or lower limits.min_free_space", "%s of its file system are free, and with less than %s (limits.min_free_space) nothing is created", s.SizeOf(free), s.SizeOf(least)))
	case free < 2*least:
		all = append(all, warning("make room soon", "%s of its file system are free; with less than %s (limits.min_free_space) nothing is created", s.SizeOf(free), s.SizeOf(least)))
	default:
		all = append(all, fine("%s of its file system are free", s.SizeOf(free)))
	}
	if most := int64(s.Config.MaxStoreSize); most > 0 && s.Facts != nil {
		all = append(all, s.fullness(s.Facts.Size-s.Facts.Unused, most))
	}
	return all
}

// fullness compares what the database holds with max_store_size.
func (s *Subject) fullness(used, most int64) Finding {
	const cure = "raise max_store_size, let pushes expire sooner, or lower files.max_file_size"
	switch {
	case used >= most:
		return problem(cure, "the database holds %s, and with %s (max_store_size) nothing is created", s.SizeOf(used), s.SizeOf(most))
	case used >= most/10*9:
		return warning(cure, "the database holds %s of the %s that it may (max_store_size)", s.SizeOf(used), s.SizeOf(most))
	}
	return fine("the database holds %s of the %s that it may (max_store_size)", s.SizeOf(used), s.SizeOf(most))
}

// A risk is a kind of file system that a database should not be on.
type risk struct {
	grade     Grade
	says, why string
}

const elsewhere = "put data_dir on a local disk"

// risks are those kinds, by the names that fileSystem gives them.
func risks() map[string]risk {
	network := risk{Warning, "is on another machine: locks and synced writes may not hold there", elsewhere}
	return map[string]risk{
		"tmpfs":     {Warning, "is in memory: everything is gone after a restart of the machine", elsewhere},
		"ramfs":     {Warning, "is in memory: everything is gone after a restart of the machine", elsewhere},
		"overlay":   {Warning, "is the inside of a container: everything is gone when that is made anew", "mount a volume for data_dir"},
		"nfs":       network,
		"cifs":      network,
		"smb2":      network,
		"smbfs":     network,
		"9p":        network,
		"ceph":      network,
		"afs":       network,
		"webdav":    network,
		"fuse":      {Warning, "is served by a program: whether synced writes hold is up to that", elsewhere},
		"vfat":      {Warning, "has no permissions: others can open the key", elsewhere},
		"exfat":     {Warning, "has no permissions: others can open the key", elsewhere},
		"ecryptfs":  {Warning, "is a layer over another one: whether synced writes hold is up to that", elsewhere},
		"macfuse":   {Warning, "is served by a program: whether synced writes hold is up to that", elsewhere},
		"fusefs":    {Warning, "is served by a program: whether synced writes hold is up to that", elsewhere},
		"msdosfs":   {Warning, "has no permissions: others can open the key", elsewhere},
		"nullfs":    {Warning, "shows another file system: look at that one", "run doctor where that one is mounted"},
		"unknownfs": {Warning, "is of a kind that pushbox was not tried on", elsewhere},
	}
}

func checkFileSystem(_ context.Context, s *Subject) []Finding {
	kind, err := fileSystem(s.Config.DataDir)
	if err != nil {
		return one(skipped("%v", err))
	}
	return one(judgeFileSystem(s.Config.DataDir, kind))
}

func judgeFileSystem(dir, kind string) Finding {
	if kind == "" {
		return skipped("this system does not tell")
	}
	if r, risky := risks()[kind]; risky {
		return Finding{Grade: r.grade, Text: fmt.Sprintf("%s is on %s, which %s", dir, kind, r.says), Cure: r.why}
	}
	return fine("%s is on %s", dir, kind)
}

const (
	syncs     = 8                      // that are measured
	syncBlock = 4 << 10                // bytes, a page of the database
	slowSync  = 100 * time.Millisecond // for the middle one
	deadSync  = 2 * time.Second
)

// checkSync measures how long it takes until a page is on the disk.
func checkSync(ctx context.Context, s *Subject) []Finding {
	times, err := measureSyncs(ctx, s.Config.DataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return one(skipped("there is no %s", s.Config.DataDir))
	}
	if err != nil {
		return one(problem("mend the disk, or run doctor as the user that the server runs as", "a file cannot be written there and synced: %v", err))
	}
	slices.Sort(times)
	return one(judgeSync(times[len(times)/2]))
}

func judgeSync(middle time.Duration) Finding {
	const cure = "put data_dir on a faster disk, or find out what else keeps this one busy"
	shown := max(middle.Round(10*time.Microsecond), 10*time.Microsecond)
	switch {
	case middle > deadSync:
		return problem(cure, "it takes %v until a page is on the disk: every create and every view waits for that", shown)
	case middle > slowSync:
		return warning(cure, "it takes %v until a page is on the disk: every create and every view waits for that", shown)
	}
	return fine("a page is on the disk after %v", shown)
}

// measureSyncs writes to a file of its own, which is gone afterwards. It ends early
// where the disk is slow.
func measureSyncs(ctx context.Context, dir string) (times []time.Duration, err error) {
	f, err := os.CreateTemp(dir, "doctor.new-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	block, start := make([]byte, syncBlock), time.Now()
	for range syncs {
		began := time.Now()
		if _, err := f.Write(block); err != nil {
			return nil, err
		}
		if err := f.Sync(); err != nil {
			return nil, err
		}
		times = append(times, time.Since(began))
		if time.Since(start) > deadSync || ctx.Err() != nil {
			break
		}
	}
	return times, nil
}
