package pod

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type volumeFile struct {
	path   string
	source fileSource
}

// String returns the path and the source. The path is quoted, because it may contain any character.
func (f volumeFile) String() string {
	if f.source.kind == "" {
		return fmt.Sprintf("%q", f.path)
	}
	return fmt.Sprintf("%q (%s)", f.path, f.source)
}

// A fileSource is the kind and name of the object that provides a file. named distinguishes an
// empty name from an absent one. The fileSource is zero if a volume has only one source.
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

func (f volumeFile) overlaps(other volumeFile) bool {
	short, long := f.path, other.path
	if len(short) > len(long) {
		short, long = long, short
	}
	return short != "" && strings.HasPrefix(long, short) && (len(long) == len(short) || long[len(short)] == '/')
}

// enoughFiles limits how many files of a volume are compared with each other: 1000 files take half
// a million comparisons.
const enoughFiles = 1000

// enoughTexts limits the warnings of one type, because a Pod may have thousands of overlapping
// pairs.
const enoughTexts = 256

// warnOfFileOverlaps warns about files in the same volume that cannot coexist. It runs on every Pod
// write, so it keeps the files of most volumes on the stack.
func warnOfFileOverlaps(spec tree.Tree, _ string, faults *schema.Faults) {
	for _, v := range spec.List("volumes") {
		volume, _ := v.(tree.Tree)
		var few [8]volumeFile
		if s, source := itemSource(volume, "secretName"); s != nil {
			warnOfOverlaps(appendItems(few[:0], s, fileSource{}), volume, source, faults)
		}
		if s := volume.Object("projected"); s != nil {
			warnOfProjected(few[:0], s, volume, faults)
		}
	}
}

// itemSource returns the volume source that lists files as items, or nil. secretName is the field
// with the name of a Secret.
func itemSource(of tree.Tree, secretName string) (tree.Tree, fileSource) {
	if s := of.Object("configMap"); s != nil {
		return s, fileSource{"ConfigMap", s.String("name"), true}
	}
	if s := of.Object("secret"); s != nil {
		return s, fileSource{"Secret", s.String(secretName), true}
	}
	return of.Object("downwardAPI"), fileSource{kind: "DownwardAPI"}
}

// warnOfProjected warns about overlapping files in a projected volume. If two paths are equal, the
// kubelet silently keeps only the last file.
func warnOfProjected(files []volumeFile, projected, volume tree.Tree, faults *schema.Faults) {
	for _, v := range projected.List("sources") {
		source, _ := v.(tree.Tree)
		if len(source) == 0 {
			faults.Warn("", fmt.Sprintf("volume %q (Projected) has no sources provided", volume.String("name")))
		}
		files = appendProjection(files, source)
	}
	warnOfOverlaps(files, volume, fileSource{kind: "Projected"}, faults)
}

func warnOfOverlaps(files []volumeFile, volume tree.Tree, source fileSource, faults *schema.Faults) {
	limit := len(faults.Warnings) + enoughTexts
	for i, f := range files {
		for _, earlier := range files[:i] {
			if !f.overlaps(earlier) {
				continue
			}
			faults.Warn("", fmt.Sprintf("volume %q (%s): overlapping paths: %s with %s", volume.String("name"), source, f, earlier))
			if len(faults.Warnings) >= limit {
				return
			}
		}
	}
}

func appendFile(files []volumeFile, path string, source fileSource) []volumeFile {
	if len(files) == enoughFiles {
		return files
	}
	return append(files, volumeFile{strings.TrimRight(path, "/"), source})
}

// appendItems appends the files listed as a source's items. Without items, a source provides all
// keys of its object, which are unknown here.
func appendItems(files []volumeFile, s tree.Tree, source fileSource) []volumeFile {
	for _, v := range s.List("items") {
		item, _ := v.(tree.Tree)
		files = appendFile(files, item.String("path"), source)
	}
	return files
}

// appendProjection appends the files of one source of a projected volume. If several source types
// are set, it uses only the first one in the order below.
func appendProjection(files []volumeFile, source tree.Tree) []volumeFile {
	if s, from := itemSource(source, "name"); s != nil {
		return appendItems(files, s, from)
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
