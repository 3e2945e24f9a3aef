// Package vfs is the interface between persist and the disk: the file operations of the operating
// system (OS), and of a file system in memory (Mem) that tests can crash, fill up and make fail.
//
// An FS names files by slash-separated paths. A File is read and written at offsets. A file opened
// as a log is written forward, on Linux past the page cache. Locks are flock(2) or LockFileEx;
// syncs are fdatasync(2), F_FULLFSYNC or FlushFileBuffers.
//
// persist relies on these properties, and Mem models them:
//   - Bytes are durable after File.Sync, names after FS.SyncDir of their directory. A crash may
//     keep or lose each other change independently.
//   - The disk writes sectors of 512 bytes atomically. An unwritten sector reads as zeros or lies
//     beyond the end of the file; it never shows foreign data.
//   - Rename replaces the target atomically.
//   - After a failed sync the bytes since the last good one are unknown.
package vfs
