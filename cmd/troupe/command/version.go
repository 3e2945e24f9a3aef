package command

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/build"
)

type versionOptions struct{ Output string }

// A buildVersion is the output of troupe version.
type buildVersion struct {
	Version           string `json:"version"`
	Commit            string `json:"commit,omitempty"`
	Date              string `json:"date,omitempty"` // of the commit
	TreeState         string `json:"treeState,omitempty"`
	GoVersion         string `json:"goVersion"`
	Platform          string `json:"platform"`
	KubernetesVersion string `json:"kubernetesVersion"`
}

const versionText = `troupe {{.Version}}
{{with .Commit}}commit      {{.}}{{if ne $.TreeState "clean"}} ({{$.TreeState}}){{end}}
date        {{$.Date}}
{{end}}go          {{.GoVersion}}
platform    {{.Platform}}
kubernetes  {{.KubernetesVersion}}
`

func (o *versionOptions) run(c *cobra.Command, _ []string) error {
	v := buildVersion{Version: daemon.Version, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if hash, date, state := build.Commit(); hash != "" {
		v.Commit, v.Date, v.TreeState = hash, date, state
	}
	v.KubernetesVersion, _, _ = strings.Cut(daemon.GitVersion(), "+")
	switch o.Output {
	case "text":
		return template.Must(template.New("version").Parse(versionText)).Execute(c.OutOrStdout(), v)
	case "json":
		e := json.NewEncoder(c.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
	return fmt.Errorf("--output: %q: must be text or json", o.Output)
}
