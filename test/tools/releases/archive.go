package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	dataDir      = "data"
	recordedFile = "recorded.json"
)

// pack writes a directory to an archive, except the file ballast, which only reserves space.
func pack(dir, archive string) (err error) {
	file, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	compressed, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := tar.NewWriter(compressed)
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir || entry.Name() == "ballast" {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		head, err := tar.FileInfoHeader(info, "")
		if err != nil {
			return err
		}
		if head.Name, err = filepath.Rel(dir, path); err != nil {
			return err
		}
		if err := out.WriteHeader(head); err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	})
	return errors.Join(err, out.Close(), compressed.Close())
}

func unpack(archive, dir string) (err error) {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	plain, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	for in := tar.NewReader(plain); ; {
		head, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path := filepath.Join(dir, head.Name)
		if head.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o700)
		} else {
			var text []byte
			if text, err = io.ReadAll(in); err == nil {
				err = os.WriteFile(path, text, 0o600)
			}
		}
		if err != nil {
			return err
		}
	}
}
