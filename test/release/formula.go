package main

import (
	_ "embed"
	"io"
	"path/filepath"
	"slices"
	"text/template"
)

//go:embed packaging/formula.rb.tmpl
var formulaText string

// formula writes the Homebrew formula if the release includes the platforms that Homebrew supports.
func (r *release) formula() error {
	type archive struct{ URL, SHA256 string }
	var archives struct {
		Version                                          string
		DarwinARM64, DarwinAMD64, LinuxARM64, LinuxAMD64 archive
	}
	archives.Version = r.version
	for p, to := range map[platform]*archive{
		{"darwin", "arm64"}: &archives.DarwinARM64, {"darwin", "amd64"}: &archives.DarwinAMD64,
		{"linux", "arm64"}: &archives.LinuxARM64, {"linux", "amd64"}: &archives.LinuxAMD64,
	} {
		if !slices.Contains(r.platforms, p) {
			continue
		}
		path := r.named(p, ".tar.gz")
		digest, err := sum(path)
		if err != nil {
			return err
		}
		*to = archive{homepage + "/releases/download/v" + r.version + "/" + filepath.Base(path), digest}
	}
	t, err := template.New("formula").Parse(formulaText)
	if err != nil {
		return err
	}
	return create(filepath.Join(r.out, "troupe.rb"), func(w io.Writer) error { return t.Execute(w, archives) })
}
