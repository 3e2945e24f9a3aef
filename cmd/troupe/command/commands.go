package command

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/commands"
	"github.com/troupe-api/troupe/internal/embedded"
)

//go:embed commands.json
var commandTable []byte

type options interface {
	run(c *cobra.Command, args []string) error
}

func addCommands(to *cobra.Command) {
	var table map[string]commands.Declaration
	embedded.Decode(commandTable, &table)
	all := map[string]options{
		"status": &statusOptions{}, "doctor": &doctorOptions{}, "backup": &backupOptions{}, "restore": &restoreOptions{}, "verify": &verifyOptions{},
		"compact": &compactOptions{}, "migrate": &migrateOptions{}, "cluster": &clusterOptions{}, "envtest install": &installOptions{},
		"fork": &forkOptions{}, "import": &importOptions{}, "version": &versionOptions{},
		"plan": &planOptions{}, "validate": &validateOptions{}, "record": &recordOptions{}, "replay": &replayOptions{},
	}
	made := map[string]*cobra.Command{}
	for _, path := range slices.Sorted(maps.Keys(table)) {
		c, o := table[path].New(), all[path]
		if o != nil {
			table[path].Flags.Bind(c, nil, o)
			c.RunE = o.run
		}
		if more, ok := o.(interface{ prepare(*cobra.Command) }); ok {
			more.prepare(c)
		}
		parent := to
		if before, _, isSub := strings.Cut(path, " "); isSub {
			parent = made[before]
		}
		made[path] = c
		parent.AddCommand(c)
	}
}
