package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/troupe-api/troupe/persist/vfs"
)

const tempSuffix = ".tmp"

// A checksummed file is one line of JSON and one line with its checksum. It is always replaced as a
// whole.

func encodeChecksummed(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	body = append(body, '\n')
	return append(body, checksumLine(body)...), nil
}

func checksumLine(body []byte) string { return fmt.Sprintf("crc32c %08x\n", checksum(body)) }

func decodeChecksummed(path string, data []byte, v any) error {
	end := bytes.IndexByte(data, '\n') + 1
	if end == 0 {
		return &CorruptError{File: path, Offset: int64(len(data)), What: "the checksum is missing"}
	}
	if string(data[end:]) != checksumLine(data[:end]) {
		return &CorruptError{File: path, What: "the content does not match its checksum"}
	}
	if err := json.Unmarshal(data[:end], v); err != nil {
		return &CorruptError{File: path, What: "the content does not decode: " + err.Error()}
	}
	return nil
}

func readChecksummed(fs vfs.FS, path string, v any) error {
	data, err := readFile(fs, path)
	if err != nil {
		return err
	}
	return decodeChecksummed(path, data, v)
}

func readFile(fs vfs.FS, path string) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	return data, errors.Join(err, f.Close())
}

func writeChecksummed(fs vfs.FS, path string, v any) error {
	data, err := encodeChecksummed(v)
	if err != nil {
		return err
	}
	return replaceFile(fs, path, data)
}

func replaceFile(fs vfs.FS, path string, data []byte) error {
	f, err := fs.Create(path + tempSuffix)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, fs.Remove(path+tempSuffix))
	}
	if err := fs.Rename(path+tempSuffix, path); err != nil {
		return err
	}
	return fs.SyncDir(filepath.Dir(path))
}
