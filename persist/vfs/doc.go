// Package vfs is the file system interface of package persist. OS is the operating system's file
// system. Mem is an in-memory file system with simulated crashes, full disks and I/O errors for
// tests.
//
// An FS names files by slash-separated paths. A File is read and written at offsets. A file opened
// as a log is written sequentially, on Linux bypassing the page cache. Locks are flock(2) or
// LockFileEx. Syncs are fdatasync(2), F_FULLFSYNC or FlushFileBuffers.
//
// persist relies on these properties, which Mem models:
//   - Bytes are durable after File.Sync, and names after FS.SyncDir of their directory. A
//     crash may keep or lose each unsynced change independently.
//   - The disk writes sectors of 512 bytes atomically. An unwritten sector reads as zeros or lies
//     beyond the end of the file. It never contains data of other files.
//   - Rename replaces the target atomically.
//   - After a failed sync, any bytes written since the last successful sync may be lost.
package vfs
