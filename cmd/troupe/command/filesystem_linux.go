package command

import "syscall"

// doubtfulFileSystems are file systems that may lose synced data, by magic number (linux/magic.h).
var doubtfulFileSystems = map[uint32]string{
	0x01021994: "tmpfs, which is in memory: data is lost when the machine stops",
	0x858458f6: "ramfs, which is in memory: data is lost when the machine stops",
	0x00006969: "NFS, whose locks and syncs depend on its server: two processes could open the directory",
	0xff534d42: "CIFS, whose locks and syncs depend on its server: two processes could open the directory",
	0xfe534d42: "SMB, whose locks and syncs depend on its server: two processes could open the directory",
}

func fileSystemOf(dir string) (fileSystem, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return fileSystem{}, err
	}
	return fileSystem{free: float64(s.Bavail) * float64(s.Bsize), doubt: doubtfulFileSystems[uint32(s.Type)]}, nil
}
