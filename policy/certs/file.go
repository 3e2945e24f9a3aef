package certs

import (
	"os"
	"path/filepath"
	"runtime"
)

// createTemp is a variable so that a test can simulate a full disk.
var createTemp = os.CreateTemp

// WriteFile atomically replaces the file at path. Only its owner can read the file.
func WriteFile(path string, data []byte) error {
	made, err := writeTempFile(path, data)
	if err != nil {
		return err
	}
	return replaceFile(made, path)
}

func writeTempFile(path string, data []byte) (made string, err error) {
	tmp, err := createTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return "", err
	}
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(tmp.Name())
		return "", err
	}
	return tmp.Name(), nil
}

func replaceFile(made, path string) error {
	if err := os.Rename(made, path); err != nil {
		os.Remove(made)
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir fsyncs a directory. On Windows, this is impossible, but the file system journals file
// names.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
