// Package vfs is the interface between persist and the disk. OS is the file system of the operating
// system. Mem is an in-memory file system that tests can crash, fill up and make fail.
//
// An FS names files by slash-separated paths. A File is read and written at offsets. A file opened
// as a log is written sequentially, on Linux bypassing the page cache. Locks are flock(2) or
// LockFileEx. Syncs are fdatasync(2), F_FULLFSYNC or FlushFileBuffers.
//
// persist relies on these properties, which Mem models:
//   - Bytes are durable after File.Sync, and names after FS.SyncDir of their directory. A crash may
//     keep or lose each other change independently.
//   - The disk writes sectors of 512 bytes atomically. An unwritten sector reads as zeros or lies
//     beyond the end of the file. It never shows foreign data.
//   - Rename replaces the target atomically.
//   - After a failed sync, it is unknown which bytes since the last successful one are durable.
package vfs
