package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Options are the flags of a run. A JSON name includes the unit unless the type implies it.
type Options struct {
	Start        string        `json:"start,omitempty"`
	StartArgs    []string      `json:"startArgs,omitempty"`
	StartEtcd    string        `json:"startEtcd,omitempty"`
	Naming       string        `json:"naming,omitempty"`
	Kubeconfig   string        `json:"kubeconfig,omitempty"`
	PIDs         []int         `json:"pids,omitempty"`
	Against      string        `json:"against,omitempty"`
	AgainstPIDs  []int         `json:"againstPids,omitempty"`
	AgainstStart string        `json:"againstStart,omitempty"`
	AgainstKube  string        `json:"againstKubeAPIServer,omitempty"`
	AgainstEtcd  string        `json:"againstEtcd,omitempty"`
	Workloads    []string      `json:"workloads"`
	MediaType    string        `json:"mediaType,omitempty"`
	Runs         int           `json:"runs"`
	Users        int           `json:"users,omitempty"`
	Scale        float64       `json:"scale"`
	Size         int           `json:"sizeBytes"`
	Concurrency  int           `json:"concurrency"`
	Count        int           `json:"count"`
	Duration     time.Duration `json:"durationNanoseconds"`
	Objects      int           `json:"objects"`
	Watchers     int           `json:"watchers"`
	IdleWatchers int           `json:"idleWatchers"`
	Floor        bool          `json:"floor"`
	Settle       time.Duration `json:"settleNanoseconds"`
	TempDir      string        `json:"tempDir"`
	Timeout      time.Duration `json:"timeoutNanoseconds"`
	JSON         string        `json:"-"`
	Profile      string        `json:"-"`
	Compare      bool          `json:"-"`
	Reports      []string      `json:"-"` // arguments: saved reports
}

// Values of --media-type.
const (
	mediaJSON     = "json"
	mediaProtobuf = "protobuf"
)

// flags binds every option to its flag, in the order of the help text.
func (o *Options) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringVar(&o.Start, "start", "bin/troupe", "daemon to start and measure; with --kubeconfig, the one for workloads that start servers themselves")
	f.StringArrayVar(&o.StartArgs, "start-arg", nil, "one more argument for the started daemons (repeatable)")
	f.StringVar(&o.StartEtcd, "start-etcd", "", "etcd to start with each daemon of --start, which keeps its state there")
	f.StringVar(&o.Naming, "naming", "platform", "naming profile of the started daemons")
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "running server to measure instead of starting one")
	f.IntSliceVar(&o.PIDs, "pid", nil, "process ID of that server, for CPU and memory (repeatable)")
	f.StringVar(&o.Against, "against", "", "kubeconfig of a second server, measured side by side")
	f.IntSliceVar(&o.AgainstPIDs, "against-pid", nil, "process ID of the second server (repeatable)")
	f.StringVar(&o.AgainstStart, "against-start", "", "daemon to start and measure side by side, such as another build")
	f.StringVar(&o.AgainstKube, "against-kube-apiserver", "", "kube-apiserver to start with an etcd and measure side by side; needs --naming kubernetes")
	f.StringVar(&o.AgainstEtcd, "against-etcd", "etcd", "that etcd")
	f.StringSliceVar(&o.Workloads, "workloads", nil, "comma-separated workloads (default: all but growth, soak and million): "+strings.Join(workloadNames(true), ", "))
	f.StringVar(&o.MediaType, "media-type", mediaJSON, "json, or protobuf for the variants …-protobuf of the workloads that have one")
	f.IntVar(&o.Runs, "runs", 1, "rounds, each on fresh servers and in the other order of the servers; the report has medians and spreads")
	f.IntVar(&o.Users, "users", 0, "users that the connections have in turn, with tokens; 0 is the administrator, with a certificate")
	f.Float64Var(&o.Scale, "scale", 1, "factor for the sizes of the larger workloads; the report notes what it changed")
	f.IntVar(&o.Size, "size", 1<<10, "bytes of data in each object")
	f.IntVar(&o.Concurrency, "concurrency", 32, "clients, each with a connection of its own")
	f.IntVar(&o.Count, "count", 50_000, "maximum operations per workload")
	f.DurationVar(&o.Duration, "duration", 5*time.Second, "maximum time per workload, without preparation")
	f.IntVar(&o.Objects, "objects", 5_000, "objects to list or delete")
	f.IntVar(&o.Watchers, "watchers", 200, "watch connections of watch-fanout")
	f.IntVar(&o.IdleWatchers, "idle-watchers", 1_000, "watch connections of idle-watchers")
	f.BoolVar(&o.Floor, "floor", true, "measure the floor too: a bare server that answers as many bytes")
	f.DurationVar(&o.Settle, "settle", 2*time.Second, "wait before memory is read")
	f.StringVar(&o.TempDir, "temp-dir", os.TempDir(), "directory for data and for bare syncs, on a real disk")
	f.DurationVar(&o.Timeout, "timeout", time.Hour, "maximum time of the whole run")
	f.StringVar(&o.JSON, "json", "", "file to write the report to as JSON")
	f.StringVar(&o.Profile, "profile", "", "file for the server's CPU profile during the last load of the one workload")
	f.BoolVar(&o.Compare, "compare", false, "compare two saved reports, given as arguments: old, new")
	return f
}

// parse parses the flags and sets the defaults that depend on other flags. It prints help to log.
func (o *Options) parse(args []string, log io.Writer) error {
	f := o.flags()
	f.SetOutput(log)
	if err := f.Parse(args); err != nil {
		return err
	}
	o.Reports = f.Args()
	if o.Kubeconfig != "" && !f.Changed("start") {
		o.Start = ""
	}
	if len(o.Workloads) == 0 {
		o.Workloads = slices.DeleteFunc(workloadNames(false), func(name string) bool { return o.Start == "" && workloadOf(name).Own })
	}
	if o.MediaType == mediaProtobuf {
		o.Workloads = protobufVariants(o.Workloads)
	}
	return o.validate()
}

func (o *Options) validate() error {
	var faults []error
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	for _, name := range o.Workloads {
		w := workloadOf(name)
		fault(w.Name == "", "--workloads: unknown workload %q; available: %s", name, strings.Join(workloadNames(true), ", "))
		fault(w.Own && o.Start == "", "--workloads: %s needs --start", name)
	}
	seconds := 0
	for _, second := range []string{o.Against, o.AgainstStart, o.AgainstKube} {
		if second != "" {
			seconds++
		}
	}
	fault(o.MediaType != mediaJSON && o.MediaType != mediaProtobuf, "--media-type: invalid value %q: must be json or protobuf", o.MediaType)
	fault(len(o.Workloads) == 0, "--media-type: none of the workloads has a variant in Protobuf")
	fault(o.Start == "" && o.Kubeconfig == "", "--start or --kubeconfig is needed")
	fault(o.StartEtcd != "" && o.Start == "", "--start-etcd needs --start")
	fault(len(o.PIDs) > 0 && o.Kubeconfig == "", "--pid needs --kubeconfig")
	fault(len(o.AgainstPIDs) > 0 && o.Against == "", "--against-pid needs --against")
	fault(seconds > 1, "--against, --against-start and --against-kube-apiserver exclude each other")
	fault(o.Users < 0, "--users must not be negative")
	fault(o.Users > 0 && o.Kubeconfig+o.Against+o.AgainstKube != "", "--users needs daemons to start, with --start and --against-start")
	fault(o.AgainstKube != "" && o.Naming != "kubernetes", "--against-kube-apiserver needs --naming kubernetes")
	fault(o.Compare && len(o.Reports) != 2, "--compare needs two saved reports, old and new")
	fault(len(o.Reports) > 0 && !o.Compare, "saved reports need --compare")
	fault(o.Profile != "" && (len(o.Workloads) != 1 || o.Runs > 1), "--profile needs one run of one workload")
	fault(o.Scale <= 0, "--scale must be positive")
	for flag, value := range map[string]int{
		"size": o.Size, "concurrency": o.Concurrency, "count": o.Count, "duration": int(o.Duration), "objects": o.Objects, "runs": o.Runs,
		"watchers": o.Watchers, "idle-watchers": o.IdleWatchers, "settle": int(o.Settle), "timeout": int(o.Timeout),
	} {
		fault(value <= 0, "--%s must be positive", flag)
	}
	return errors.Join(faults...)
}

func (o *Options) load() Load {
	return Load{Concurrency: o.Concurrency, Count: o.Count, Duration: o.Duration, Profile: o.Profile}
}
