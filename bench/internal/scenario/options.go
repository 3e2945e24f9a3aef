package scenario

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// Options are the flags of a run. Their names in JSON carry the units where the type does not. What is
// secret, or only says where to write, is not saved. The groups are, from top to bottom: which servers,
// which credentials, what is measured at which sizes, and where it is written.
type Options struct {
	Start        string        `json:"start,omitempty"`
	StartArgs    []string      `json:"startArgs,omitempty"`
	StartEtcd    string        `json:"startEtcd,omitempty"`
	Naming       string        `json:"naming,omitempty"`
	Audit        bool          `json:"audit"`
	Binary       string        `json:"binary,omitempty"`
	Kubeconfig   string        `json:"kubeconfig,omitempty"`
	PIDs         []int         `json:"pids,omitempty"`
	Against      string        `json:"against,omitempty"`
	AgainstStart string        `json:"againstStart,omitempty"`
	AgainstPIDs  []int         `json:"againstPids,omitempty"`
	AgainstKube  string        `json:"againstKubeAPIServer,omitempty"`
	AgainstEtcd  string        `json:"againstEtcd,omitempty"`
	UserCA       string        `json:"userCA,omitempty"`
	UserCAKey    string        `json:"-"`
	UserToken    string        `json:"-"`
	Workloads    []string      `json:"workloads"`
	MediaType    string        `json:"mediaType,omitempty"`
	Runs         int           `json:"runs"`
	Scale        float64       `json:"scale"`
	Size         int           `json:"sizeBytes"`
	Concurrency  int           `json:"concurrency"`
	Count        int           `json:"count"`
	Duration     time.Duration `json:"durationNanoseconds"`
	Objects      int           `json:"objects"`
	ColdObjects  int           `json:"coldObjects"`
	Watchers     int           `json:"watchers"`
	Burst        int           `json:"burst"`
	IdleWatchers int           `json:"idleWatchers"`
	Floor        bool          `json:"floor"`
	Settle       time.Duration `json:"settleNanoseconds"`
	TempDir      string        `json:"tempDir"`
	JSON         string        `json:"-"`
	Growth       string        `json:"-"`
	Profile      string        `json:"-"`
	Compare      bool          `json:"-"`
	Request      time.Duration `json:"requestTimeoutNanoseconds"`
	Timeout      time.Duration `json:"timeoutNanoseconds"`

	Reports []string `json:"-"` // arguments: saved reports
}

// SoakLimit is the least duration of a soak that tells whether something grows.
const SoakLimit = 30 * time.Minute

// flags binds every option to its flag. The order is that of the help, by subject.
func (o *Options) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringVar(&o.Start, "start", "bin/troupe", "binary of the daemon to start afresh and to measure, if there is no --kubeconfig")
	f.StringArrayVar(&o.StartArgs, "start-arg", nil, "one more argument for the daemons that are started (repeatable)")
	f.StringVar(&o.StartEtcd, "start-etcd", "", "program of an etcd to start with each daemon of --start, which keeps its state there; that of --against-start keeps its on disk")
	f.StringVar(&o.Naming, "naming", "platform", "naming profile of the daemons that are started")
	f.BoolVar(&o.Audit, "audit", true, "daemons that are started write the metadata of every request into an audit log")
	f.StringVar(&o.Binary, "binary", "", "binary of the daemon for cold-start and million (default: that of --start)")
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "server to measure instead of starting one")
	f.IntSliceVar(&o.PIDs, "pid", nil, "process id of that server, for CPU and memory (repeatable)")
	f.StringVar(&o.Against, "against", "", "kubeconfig of a second server, measured side by side")
	f.IntSliceVar(&o.AgainstPIDs, "against-pid", nil, "process id of the second server (repeatable)")
	f.StringVar(&o.AgainstStart, "against-start", "", "binary of a second daemon to start and to measure side by side, instead of --against")
	f.StringVar(&o.AgainstKube, "against-kube-apiserver", "", "kube-apiserver to start with an etcd and to measure side by side, instead of --against; for --naming kubernetes")
	f.StringVar(&o.AgainstEtcd, "against-etcd", "etcd", "that etcd")
	f.StringVar(&o.UserCA, "user-ca", "", "CA whose client certificates the servers of --kubeconfig and --against accept (started ones get one)")
	f.StringVar(&o.UserCAKey, "user-ca-key", "", "key of that CA")
	f.StringVar(&o.UserToken, "user-token", "", "static token that they accept for the user "+server.StaticUser)
	f.StringSliceVar(&o.Workloads, "workloads", nil, "comma-separated workloads (default: all but soak and million): "+strings.Join(workloadNames(true), ", "))
	f.StringVar(&o.MediaType, "media-type", mediaJSON, "what the clients speak: json, as the workloads say; or protobuf, which runs the variants …-protobuf of those that have one")
	f.IntVar(&o.Runs, "runs", 1, "how often all of it is measured, each time on servers that are started afresh; the report has the medians")
	f.Float64Var(&o.Scale, "scale", 1, "factor for the sizes of the larger workloads, as in 0.1 for a small machine; the report says what it changed")
	f.IntVar(&o.Size, "size", 1<<10, "bytes of data in each object")
	f.IntVar(&o.Concurrency, "concurrency", 32, "clients, each with a connection of its own")
	f.IntVar(&o.Count, "count", 50_000, "most operations per workload")
	f.DurationVar(&o.Duration, "duration", 5*time.Second, "most time per workload, preparation aside")
	f.IntVar(&o.Objects, "objects", 5_000, "objects that are listed or deleted")
	f.IntVar(&o.ColdObjects, "cold-objects", 50_000, "objects in the store of the cold start after kill -9")
	f.IntVar(&o.Watchers, "watchers", 200, "watch connections of watch-fanout")
	f.IntVar(&o.Burst, "burst", 100, "events of one burst of watch-fanout")
	f.IntVar(&o.IdleWatchers, "idle-watchers", 1_000, "watch connections of idle-watchers")
	f.BoolVar(&o.Floor, "floor", true, "measure the floor too: a bare server that answers as many bytes")
	f.DurationVar(&o.Settle, "settle", 2*time.Second, "how long memory is left alone before it is read")
	f.StringVar(&o.TempDir, "temp-dir", os.TempDir(), "where data directories are made and syncs are measured; a real disk, please")
	f.StringVar(&o.JSON, "json", "", "file to write the report to as JSON")
	f.StringVar(&o.Growth, "growth", "", "instead of workloads, measure each cost at growing sizes, and write the plots into this folder")
	f.StringVar(&o.Profile, "profile", "", "file for the CPU profile that the server takes of itself while the last load of the one workload is driven")
	f.BoolVar(&o.Compare, "compare", false, "compare two saved reports, given as arguments: old, new")
	f.DurationVar(&o.Request, "request-timeout", time.Minute, "most time for one request")
	f.DurationVar(&o.Timeout, "timeout", time.Hour, "most time for the whole run")
	return f
}

// Parse reads the flags and applies the defaults that depend on each other. Help goes to log. A server that
// runs already cannot be killed, so workloads with servers of their own are left out without a binary.
func (o *Options) Parse(args []string, log io.Writer) error {
	f := o.flags()
	f.SetOutput(log)
	if err := f.Parse(args); err != nil {
		return err
	}
	o.Reports = f.Args()
	// A server that is given is measured instead of the default of --start.
	if o.Kubeconfig != "" {
		o.Start = ""
	}
	if o.Binary == "" {
		o.Binary = o.Start
	}
	if len(o.Workloads) == 0 {
		o.Workloads = workloadNames(false)
		if o.Binary == "" {
			o.Workloads = slices.DeleteFunc(o.Workloads, needsBinary)
		}
	}
	if o.MediaType == mediaProtobuf {
		o.Workloads = speakProtobuf(o.Workloads)
	}
	return o.Validate()
}

// needsBinary tells whether a workload starts servers itself.
func needsBinary(name string) bool {
	w, _ := WorkloadOf(name)
	return w.Own
}

// Validate reports every fault. A run takes long, so what is wrong with it should be known before.
func (o *Options) Validate() error {
	var faults []error
	// All faults are collected; the first alone would cost the user one attempt for each.
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	for _, name := range o.Workloads {
		_, known := WorkloadOf(name)
		fault(!known, "--workloads: there is no %q, but %s", name, strings.Join(workloadNames(true), ", "))
		fault(needsBinary(name) && o.Binary == "", "--workloads: %s needs --binary", name)
	}
	fault(o.MediaType != mediaJSON && o.MediaType != mediaProtobuf && o.MediaType != "", "--media-type: there is no %q, but json and protobuf", o.MediaType)
	fault(len(o.Workloads) == 0, "--media-type: none of the workloads has a variant in Protobuf")
	fault(o.Start == "" && o.Kubeconfig == "", "--start or --kubeconfig is needed")
	fault(o.StartEtcd != "" && o.Binary == "", "--start-etcd needs --start or --binary")
	fault(len(o.PIDs) > 0 && o.Kubeconfig == "", "--pid needs --kubeconfig")
	fault(len(o.AgainstPIDs) > 0 && o.Against == "", "--against-pid needs --against")
	fault(count(o.Against, o.AgainstStart, o.AgainstKube) > 1, "--against, --against-start and --against-kube-apiserver are alternatives")
	fault(o.AgainstKube != "" && (o.Start == "" || o.Naming != "kubernetes" || o.UserCA != ""), "--against-kube-apiserver needs --start and --naming kubernetes, and no --user-ca")
	fault((o.UserCA == "") != (o.UserCAKey == ""), "--user-ca and --user-ca-key need each other")
	fault(o.Compare && len(o.Reports) != 2, "--compare needs two saved reports, old and new")
	fault(len(o.Reports) > 0 && !o.Compare, "saved reports are for --compare")
	fault(o.Profile != "" && (len(o.Workloads) != 1 || o.Runs > 1 || o.Growth != ""), "--profile is for one run of one workload")
	fault(o.Scale <= 0, "--scale must be positive")
	for _, number := range []struct {
		flag  string
		value int64
	}{
		{"size", int64(o.Size)}, {"concurrency", int64(o.Concurrency)}, {"count", int64(o.Count)},
		{"duration", int64(o.Duration)}, {"objects", int64(o.Objects)}, {"cold-objects", int64(o.ColdObjects)},
		{"runs", int64(o.Runs)}, {"watchers", int64(o.Watchers)}, {"burst", int64(o.Burst)}, {"idle-watchers", int64(o.IdleWatchers)},
		{"settle", int64(o.Settle)}, {"request-timeout", int64(o.Request)}, {"timeout", int64(o.Timeout)},
	} {
		fault(number.value <= 0, "--%s must be positive", number.flag)
	}
	return errors.Join(faults...)
}

// Compares tells whether a second server is measured side by side.
func (o *Options) Compares() bool { return count(o.Against, o.AgainstStart, o.AgainstKube) > 0 }

// count is how many of some options are set.
func count(options ...string) (n int) {
	for _, option := range options {
		if option != "" {
			n++
		}
	}
	return n
}

// load is the load that the flags ask for. Workloads change the copy that they get.
// Count and Duration both bound a load; whichever is reached first ends it.
func (o *Options) load() measure.Load {
	return measure.Load{Concurrency: o.Concurrency, Count: o.Count, Duration: o.Duration, Profile: o.Profile}
}
