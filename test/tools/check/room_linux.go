package main

import "syscall"

func room(dir string) uint64 {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0
	}
	return s.Bavail * uint64(s.Bsize)
}
