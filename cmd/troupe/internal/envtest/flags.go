package envtest

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// ignored returns a flag set that accepts the flags of kube-apiserver that the daemon does not
// have, except --version.
func ignored() *pflag.FlagSet {
	set := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, f := range daemon.UnsupportedFlags {
		if f.Controller || f.Name == versionFlag {
			continue
		}
		flag := set.VarPF(&ignoredValue{valueType: f.Type}, f.Name, "", "Ignored. "+f.Reason)
		if f.Type == "bool" {
			flag.NoOptDefVal = "true"
		}
	}
	return set
}

// logIgnored logs each given flag that has no effect: as a warning if its value asks for something
// that the daemon does not do.
func logIgnored(given *pflag.FlagSet, log *slog.Logger) {
	for _, f := range daemon.UnsupportedFlags {
		flag := given.Lookup(f.Name)
		if flag == nil || !flag.Changed || f.Name == versionFlag {
			continue
		}
		level := slog.LevelWarn
		if f.Neutral == "*" || f.Neutral == flag.Value.String() {
			level = slog.LevelDebug
		}
		log.Log(context.Background(), level, "flag ignored", "flag", "--"+f.Name, "value", flag.Value.String(), "reason", f.Reason)
	}
}

// An ignoredValue checks the type of a value as kube-apiserver does, and keeps the value for the log.
type ignoredValue struct {
	valueType string
	given     string
}

func (v *ignoredValue) String() string { return v.given }

func (v *ignoredValue) Type() string {
	if v.valueType == "" {
		return "string"
	}
	return v.valueType
}

// Set appends to the value of a string flag that was given before.
func (v *ignoredValue) Set(s string) (err error) {
	switch v.valueType {
	case "bool":
		var b bool
		b, err = strconv.ParseBool(s)
		s = strconv.FormatBool(b)
	case "int":
		_, err = strconv.ParseInt(s, 10, 64)
	case "float":
		_, err = strconv.ParseFloat(s, 64)
	case "duration":
		_, err = time.ParseDuration(s)
	}
	if err != nil {
		return fmt.Errorf("%q is not a valid %s", s, v.Type())
	}
	if v.valueType == "" && v.given != "" {
		s = strings.Join([]string{v.given, s}, ",")
	}
	v.given = s
	return nil
}
