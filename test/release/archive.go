package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// named returns the path of an output file for a platform.
func (r *release) named(p platform, suffix string) string {
	return filepath.Join(r.out, "troupe_"+r.version+"_"+p.os+"_"+p.arch+suffix)
}

func (r *release) archive(s staged) error {
	prefix := "troupe_" + r.version + "_" + s.platform.os + "_" + s.platform.arch
	if s.platform.os == "windows" {
		return create(r.named(s.platform, ".zip"), func(w io.Writer) error { return writeZip(w, os.DirFS(s.dir), prefix, r.date) })
	}
	return create(r.named(s.platform, ".tar.gz"), func(w io.Writer) error { return writeTarGz(w, os.DirFS(s.dir), prefix, r.date) })
}

func create(path string, write func(io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return write(f)
}

// mode returns the mode of a file in archives, regardless of the umask.
func mode(info fs.FileInfo) fs.FileMode {
	if info.IsDir() || info.Mode()&0o100 != 0 {
		return 0o755
	}
	return 0o644
}

func writeTarGz(w io.Writer, from fs.FS, prefix string, date time.Time) error {
	z := gzip.NewWriter(w)
	return errors.Join(writeTar(z, from, prefix, date), z.Close())
}

// writeTar writes the files of a directory below prefix, in lexical order. They belong to root and
// have the given date.
func writeTar(w io.Writer, from fs.FS, prefix string, date time.Time) error {
	t := tar.NewWriter(w)
	err := eachFile(from, func(name string, info fs.FileInfo) error {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: path.Join(prefix, name), Size: info.Size(), Mode: int64(mode(info)), ModTime: date, Format: tar.FormatPAX}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		return copyFile(t, from, name)
	})
	return errors.Join(err, t.Close())
}

func writeZip(w io.Writer, from fs.FS, prefix string, date time.Time) error {
	z := zip.NewWriter(w)
	err := eachFile(from, func(name string, info fs.FileInfo) error {
		h := &zip.FileHeader{Name: path.Join(prefix, name), Method: zip.Deflate, Modified: date}
		h.SetMode(mode(info))
		to, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		return copyFile(to, from, name)
	})
	return errors.Join(err, z.Close())
}

func eachFile(from fs.FS, do func(name string, info fs.FileInfo) error) error {
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return do(name, info)
	})
}

func copyFile(w io.Writer, from fs.FS, name string) error {
	f, err := from.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
