package pod

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A volumeFile is a file that a volume has, and the source that it is from.
type volumeFile struct {
	path   string
	source fileSource
}

// It is quoted, since a path may hold any character.
func (f volumeFile) String() string {
	if f.source.kind == "" {
		return fmt.Sprintf("%q", f.path)
	}
	return fmt.Sprintf("%q (%s)", f.path, f.source)
}

// A fileSource is the kind of a source, and the name of the object that it shows, if it is a named one. The
// zero value is the only source of a volume. An object whose name is empty still counts as named, and is
// shown as such.
type fileSource struct {
	kind, name string
	named      bool
}

func (s fileSource) String() string {
	if !s.named {
		return s.kind
	}
	return fmt.Sprintf("%s %q", s.kind, s.name)
}

// overlaps tells whether two files have the same path, or one would be a directory of the other. "a" and
// "ab" do not overlap: a prefix must end where a name does.
func (f volumeFile) overlaps(other volumeFile) bool {
	short, long := f.path, other.path
	if len(short) > len(long) {
		short, long = long, short
	}
	return short != "" && strings.HasPrefix(long, short) && (len(long) == len(short) || long[len(short)] == '/')
}

// enoughFiles is how many files of a volume are compared with each other.
//
// Each is compared with each, which is half a million comparisons at this bound.
const enoughFiles = 1000

// warnFileOverlaps warns of files of one volume which cannot both be there. Usual volumes have a few files,
// for which the array on the stack is enough: warnings are looked for in every write of a Pod.
func (c *collector) warnFileOverlaps() {
	for _, v := range c.spec.List("volumes") {
		volume, _ := v.(tree.Tree)
		var few [8]volumeFile
		if s := volume.Object("configMap"); s != nil {
			c.warnOverlaps(appendItems(few[:0], s, fileSource{}), volume, fileSource{"ConfigMap", s.String("name"), true})
		}
		if s := volume.Object("secret"); s != nil {
			c.warnOverlaps(appendItems(few[:0], s, fileSource{}), volume, fileSource{"Secret", s.String("secretName"), true})
		}
		if s := volume.Object("downwardAPI"); s != nil {
			c.warnOverlaps(appendItems(few[:0], s, fileSource{}), volume, fileSource{kind: "DownwardAPI"})
		}
		if s := volume.Object("projected"); s != nil {
			c.warnProjected(few[:0], s, volume)
		}
	}
}

// The kubelet writes the sources in their order, so the last of two equal paths wins without a word.
func (c *collector) warnProjected(files []volumeFile, projected, volume tree.Tree) {
	for _, v := range projected.List("sources") {
		source, _ := v.(tree.Tree)
		if len(source) == 0 {
			c.texts = append(c.texts, fmt.Sprintf("volume %q (Projected) has no sources provided", volume.String("name")))
		}
		files = appendProjection(files, source)
	}
	c.warnOverlaps(files, volume, fileSource{kind: "Projected"})
}

// warnOverlaps warns of the files of a volume; source is what the volume shows.
func (c *collector) warnOverlaps(files []volumeFile, volume tree.Tree, source fileSource) {
	limit := len(c.texts) + enoughTexts
	for i, f := range files {
		for _, earlier := range files[:i] {
			if !f.overlaps(earlier) {
				continue
			}
			c.texts = append(c.texts, fmt.Sprintf("volume %q (%s): overlapping paths: %s with %s", volume.String("name"), source, f, earlier))
			if len(c.texts) >= limit {
				return
			}
		}
	}
}

// appendFile adds a file, unless there are enough of them.
func appendFile(files []volumeFile, path string, source fileSource) []volumeFile {
	if len(files) == enoughFiles {
		return files
	}
	return append(files, volumeFile{strings.TrimRight(path, "/"), source})
}

// Without items all keys of the object become files. They are not known here, and not compared.
func appendItems(files []volumeFile, s tree.Tree, source fileSource) []volumeFile {
	for _, v := range s.List("items") {
		item, _ := v.(tree.Tree)
		files = appendFile(files, item.String("path"), source)
	}
	return files
}

// appendProjection adds the files of one source of a projected volume. A projection has one source; of
// several, the first in this order is looked at.
func appendProjection(files []volumeFile, source tree.Tree) []volumeFile {
	if s := source.Object("configMap"); s != nil {
		return appendItems(files, s, fileSource{"ConfigMap", s.String("name"), true})
	}
	if s := source.Object("secret"); s != nil {
		return appendItems(files, s, fileSource{"Secret", s.String("name"), true})
	}
	if s := source.Object("downwardAPI"); s != nil {
		return appendItems(files, s, fileSource{kind: "DownwardAPI"})
	}
	if s := source.Object("serviceAccountToken"); s != nil {
		return appendFile(files, s.String("path"), fileSource{kind: "ServiceAccountToken"})
	}
	if s := source.Object("clusterTrustBundle"); s != nil {
		name := s.String("name")
		if !s.Has("name") {
			name = s.String("signerName")
		}
		return appendFile(files, s.String("path"), fileSource{"ClusterTrustBundle", name, true})
	}
	if s := source.Object("podCertificate"); s != nil {
		files = appendFile(files, s.String("certificateChainPath"), fileSource{kind: "PodCertificate chain"})
		files = appendFile(files, s.String("keyPath"), fileSource{kind: "PodCertificate key"})
		files = appendFile(files, s.String("credentialBundlePath"), fileSource{kind: "PodCertificate credential bundle"})
	}
	return files
}
