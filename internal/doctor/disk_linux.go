package doctor

import "golang.org/x/sys/unix"

// Numbers of file systems on Linux, from <linux/magic.h> and from the sources of the
// file systems.
var kinds = map[int64]string{
	unix.TMPFS_MAGIC: "tmpfs", unix.RAMFS_MAGIC: "ramfs", unix.OVERLAYFS_SUPER_MAGIC: "overlay",
	unix.NFS_SUPER_MAGIC: "nfs", 0xff534d42: "cifs", unix.SMB2_SUPER_MAGIC: "smb2", unix.V9FS_MAGIC: "9p", 0x00c36400: "ceph", unix.AFS_SUPER_MAGIC: "afs",
	unix.FUSE_SUPER_MAGIC: "fuse", unix.MSDOS_SUPER_MAGIC: "vfat", 0x2011bab0: "exfat", unix.ECRYPTFS_SUPER_MAGIC: "ecryptfs",
	unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs", 0x2fc12fc1: "zfs", unix.F2FS_SUPER_MAGIC: "f2fs",
}

func fileSystem(dir string) (kind string, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "", err
	}
	if kind, known := kinds[int64(uint32(s.Type))]; known {
		return kind, nil
	}
	return "unknownfs", nil
}
