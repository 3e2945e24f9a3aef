package client

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

func cp(f *connectionFlags) *cobra.Command {
	container := ""
	c := &cobra.Command{
		Use:   "cp FROM TO",
		Short: "Copy files and folders to and from containers",
		Long: `Copy files and folders to and from containers. One of the two is in a container: POD:PATH,
or NAMESPACE/POD:PATH. The container needs the program tar. What comes from a container is
written below TO only, and links in it are left out.`,
		Example: "  troupe cp settings.conf web:/etc/web.conf\n  troupe cp shop/web:/var/log ./log -c main",
		Args:    cobra.ExactArgs(2),
	}
	c.Flags().StringVarP(&container, "container", "c", "", "Container.")
	c.RunE = f.run(func(s *session, args []string) error {
		from, to := parseFileSpec(args[0]), parseFileSpec(args[1])
		switch {
		case from.pod == "" && to.pod == "":
			return usageError("one of FROM and TO has to be in a container: POD:PATH")
		case from.pod != "" && to.pod != "":
			return usageError("only one of FROM and TO can be in a container")
		case from.path == "" || to.path == "":
			return usageError("filepath can not be empty")
		case from.pod != "":
			return s.copyFrom(from, to.path, container)
		}
		return s.copyTo(from.path, to, container)
	})
	return c
}

// A fileSpec is a path, and the Pod in one of whose containers it is; "" for this machine.
type fileSpec struct{ namespace, pod, path string }

// parseFileSpec reads PATH, POD:PATH or NAMESPACE/POD:PATH. What begins like a path is one, whatever follows.
func parseFileSpec(arg string) fileSpec {
	where, file, ok := strings.Cut(arg, ":")
	if !ok || where == "" || strings.HasPrefix(where, ".") || strings.HasPrefix(where, "/") {
		return fileSpec{path: arg}
	}
	namespace, pod, given := strings.Cut(where, "/")
	if !given {
		namespace, pod = "", where
	}
	return fileSpec{namespace, pod, file}
}

// runAt runs a command in the container of a spec, with other streams than those of the session.
func (s *session) runAt(at fileSpec, container string, in io.Reader, out io.Writer, command ...string) error {
	if at.namespace != "" {
		s.Namespace = at.namespace
	}
	inner := *s
	if inner.out = out; in != nil {
		inner.in = in
	}
	err := inner.enter(&containerFlags{container: container, stdin: in != nil}, at.pod, "exec", url.Values{"command": command})
	var end *Error
	if errors.As(err, &end) && end.Code > 0 {
		return &failedCommand{command[0], end.Code}
	}
	return err
}

// A failedCommand is one in a container.
type failedCommand struct {
	name string
	code int
}

func (e *failedCommand) Error() string {
	return fmt.Sprintf("%s in the container failed with exit code %d", e.name, e.code)
}

// isFolder tells whether the path of a spec is a folder.
func (s *session) isFolder(at fileSpec, container string) (bool, error) {
	err := s.runAt(at, container, nil, io.Discard, "test", "-d", at.path)
	if errors.As(err, new(*failedCommand)) {
		return false, nil
	}
	return err == nil, err
}

// copyTo sends a file or a folder as an archive, which tar unpacks in the container.
func (s *session) copyTo(from string, to fileSpec, container string) error {
	if _, err := os.Stat(from); err != nil {
		return err
	}
	target := path.Clean(to.path)
	into, err := s.isFolder(to, container)
	if err != nil {
		return err
	}
	if into || strings.HasSuffix(to.path, "/") {
		target = path.Join(target, filepath.Base(from))
	}
	archive, w := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := pack(w, from, path.Base(target))
		packed <- err
		w.CloseWithError(err)
	}()
	err = s.runAt(to, container, archive, s.out, "tar", "-xmf", "-", "-C", path.Dir(target))
	archive.CloseWithError(io.ErrClosedPipe) // so that what packs ends, too
	if fault := <-packed; fault != nil && !errors.Is(fault, io.ErrClosedPipe) {
		return fault
	}
	return err
}

// pack writes an archive of a file or a folder under another name.
func pack(w io.Writer, from, name string) error {
	archive := tar.NewWriter(w)
	err := filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		return packOne(archive, file, path.Join(name, filepath.ToSlash(inside)), d)
	})
	if err != nil {
		return err
	}
	return archive.Close()
}

func packOne(archive *tar.Writer, file, name string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	link := ""
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		if link, err = os.Readlink(file); err != nil {
			return err
		}
	case !info.IsDir() && !info.Mode().IsRegular():
		return fmt.Errorf("%s is no file, folder or link, so it cannot be copied", file)
	}
	head, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	head.Name, head.Uid, head.Gid, head.Uname, head.Gname = name, 0, 0, "", ""
	if err := archive.WriteHeader(head); err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyN(archive, f, info.Size())
	return err
}

// copyFrom has tar pack a file or a folder in the container, and unpacks it here.
func (s *session) copyFrom(from fileSpec, to, container string) error {
	source := path.Clean(from.path)
	name := path.Base(source)
	if name == "/" {
		name = "."
	}
	if info, err := os.Stat(to); err == nil && info.IsDir() && name != "." && name != ".." {
		to = filepath.Join(to, name)
	}
	archive, w := io.Pipe()
	unpacked := make(chan error, 1)
	go func() {
		err := s.unpack(archive, name, to)
		_, _ = io.Copy(io.Discard, archive) // padding behind the end, or what is not wanted any more
		unpacked <- err
	}()
	err := s.runAt(from, container, nil, w, "tar", "cf", "-", "-C", path.Dir(source), "./"+name) // a name may begin with a hyphen
	w.CloseWithError(err)
	fault := <-unpacked
	if err != nil {
		return err
	}
	return fault
}

// unpack writes what an archive holds below the name in it to a path. Whoever packs it may be hostile: nothing leaves that path, and there are
// no links, which could lead elsewhere.
func (s *session) unpack(from io.Reader, name, to string) error {
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(to)), 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(filepath.Clean(to)))
	if err != nil {
		return err
	}
	defer root.Close()
	base := filepath.Base(filepath.Clean(to))
	for archive := tar.NewReader(from); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("what tar in the container sends is no archive: %w", err)
		}
		inside, err := filepath.Rel(name, path.Clean(head.Name))
		if err != nil || !filepath.IsLocal(inside) && inside != "." {
			return fmt.Errorf("the container sends %q, which is not below %q: nothing more is copied", head.Name, name)
		}
		if err := s.unpackOne(root, filepath.Join(base, inside), head, archive); err != nil {
			return err
		}
	}
}

func (s *session) unpackOne(root *os.Root, file string, head *tar.Header, content io.Reader) error {
	switch head.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(file, 0o755)
	case tar.TypeReg:
	default:
		s.notef("warning: skipping %q, which is no file and no folder\n", head.Name)
		return nil
	}
	if err := root.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, head.FileInfo().Mode().Perm()&0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}
