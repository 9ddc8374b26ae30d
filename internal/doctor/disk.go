package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"pushbox/internal/durable"
	"pushbox/internal/humanize"
)

// checkSpace compares the free space with the limit below which creates are refused.
func checkSpace(_ context.Context, s *Subject) (all []Finding) {
	free, known, err := durable.FreeSpace(s.Config.DataDir)
	least := int64(s.Config.Limits.MinFreeSpace)
	switch {
	case err != nil:
		all = append(all, skipped("%v", err))
	case !known:
		all = append(all, skipped("this system does not report it"))
	case free < least:
		all = append(all, problem("make room, or lower limits.min_free_space", "%s are free on its file system; below %s (limits.min_free_space) nothing is created", humanize.Size(free), humanize.Size(least)))
	case free < 2*least:
		all = append(all, warning("make room soon", "%s are free on its file system; below %s (limits.min_free_space) nothing is created", humanize.Size(free), humanize.Size(least)))
	default:
		all = append(all, fine("%s are free on its file system", humanize.Size(free)))
	}
	if most := int64(s.Config.MaxStoreSize); most > 0 && s.Facts != nil {
		all = append(all, fullness(s.Facts.Size-s.Facts.Unused, most))
	}
	return all
}

// fullness compares the size of the data with max_store_size.
func fullness(used, most int64) Finding {
	const cure = "raise max_store_size, let pushes expire sooner, or lower files.max_file_size"
	switch {
	case used >= most:
		return problem(cure, "the database holds %s; from %s (max_store_size) nothing is created", humanize.Size(used), humanize.Size(most))
	case used >= most/10*9:
		return warning(cure, "the database holds %s of the %s that it may (max_store_size)", humanize.Size(used), humanize.Size(most))
	}
	return fine("the database holds %s of the %s that it may (max_store_size)", humanize.Size(used), humanize.Size(most))
}

// A risk is a kind of file system that does not suit a database.
type risk struct {
	grade     Grade
	says, why string
}

const elsewhere = "put data_dir on a local disk"

// risks are these kinds, by the names that fileSystem returns.
func risks() map[string]risk {
	network := risk{Warning, "is on another machine: locks and synced writes may not work there", elsewhere}
	return map[string]risk{
		"tmpfs":     {Warning, "is in memory: everything is lost when the machine restarts", elsewhere},
		"ramfs":     {Warning, "is in memory: everything is lost when the machine restarts", elsewhere},
		"overlay":   {Warning, "belongs to a container: everything is lost when the container is recreated", "mount a volume for data_dir"},
		"nfs":       network,
		"cifs":      network,
		"smb2":      network,
		"smbfs":     network,
		"9p":        network,
		"ceph":      network,
		"afs":       network,
		"webdav":    network,
		"fuse":      {Warning, "is served by a program, which decides whether synced writes last", elsewhere},
		"vfat":      {Warning, "has no permissions: others can open the key", elsewhere},
		"exfat":     {Warning, "has no permissions: others can open the key", elsewhere},
		"ecryptfs":  {Warning, "is a layer over another file system, which decides whether synced data survives a crash", elsewhere},
		"macfuse":   {Warning, "is a FUSE file system: its program decides whether synced data survives a crash", elsewhere},
		"fusefs":    {Warning, "is a FUSE file system: its program decides whether synced data survives a crash", elsewhere},
		"msdosfs":   {Warning, "has no permissions: others can open the key", elsewhere},
		"nullfs":    {Warning, "shows another file system", "run doctor on that file system"},
		"unknownfs": {Warning, "is a kind of file system that pushbox was not tested on", elsewhere},
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
		return skipped("this system does not report it")
	}
	if r, risky := risks()[kind]; risky {
		return Finding{Grade: r.grade, Text: fmt.Sprintf("%s is on %s, which %s", dir, kind, r.says), Cure: r.why}
	}
	return fine("%s is on %s", dir, kind)
}

const (
	syncs      = 8                      // to measure
	leastSyncs = 3                      // of a slow disk
	syncBlock  = 4 << 10                // bytes, a page of the database
	slowSync   = 100 * time.Millisecond // of the median
	deadSync   = 2 * time.Second
)

// checkSync measures how long the disk takes to make a page durable.
func checkSync(ctx context.Context, s *Subject) []Finding {
	times, err := measureSyncs(ctx, s.Config.DataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return one(skipped("there is no %s", s.Config.DataDir))
	}
	if err != nil {
		return one(noSync(err))
	}
	slices.Sort(times)
	return one(judgeSync(times[len(times)/2]))
}

// noSync returns the finding for a disk to which files cannot be written.
func noSync(err error) Finding {
	cure := "check the disk, or run doctor as the server's user"
	if errors.Is(err, syscall.ENOSPC) {
		cure = "make room on its file system"
	}
	return problem(cure, "a file cannot be written and synced there: %v", err)
}

func judgeSync(middle time.Duration) Finding {
	const cure = "put data_dir on a faster disk, or find out what keeps this one busy"
	shown := max(middle.Round(10*time.Microsecond), 10*time.Microsecond)
	switch {
	case middle > deadSync:
		return problem(cure, "a synced write takes %v, and every create and view waits for one", shown)
	case middle > slowSync:
		return warning(cure, "a synced write takes %v, and every create and view waits for one", shown)
	}
	return fine("a synced write takes %v", shown)
}

// measureSyncs writes to a temporary file. It ends early if the disk is slow, but not for one
// pause of the machine.
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
		if len(times) >= leastSyncs && time.Since(start) > deadSync || ctx.Err() != nil {
			break
		}
	}
	return times, nil
}
