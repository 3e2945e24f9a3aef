// Package vfs is the interface between persist and the disk: the few file operations that the
// journal needs, those of the operating system (OS) and those in memory (Mem), which tests can crash,
// fill up and make fail.
//
// An FS names files by slash-separated paths; a File is read and written at offsets; a
// file opened as a log grows forward, on Linux past the page cache. Linux, macOS and Windows lock and sync in
// different ways: flock(2) or LockFileEx, fdatasync(2), F_FULLFSYNC or FlushFileBuffers.
//
// What the rest of persist relies on, and what Mem therefore models:
//   - Bytes are durable after File.Sync, names after FS.SyncDir of their directory; a crash
//     may keep or lose anything else, each of it on its own.
//   - The disk writes sectors of 512 bytes wholly or not at all. A sector of a file that was
//     never written reads as zeros or lies beyond the file's end; it never shows foreign data.
//   - Rename replaces the target at once.
//   - After a failed sync nothing is known about the bytes since the last good one.
package vfs
