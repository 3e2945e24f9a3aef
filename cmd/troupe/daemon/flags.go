package daemon

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
)

// A FlagGroup is one section of the help text.
type FlagGroup struct {
	Title string
	Flags *pflag.FlagSet
}

// Flags are the flags of the daemon, bound to c, whose present values are their defaults. Where the API
// server that clients know has a flag for the same thing, it has that name. The order is that of the help.
// Each call makes new flag sets, bound to c.
func (c *Config) Flags() []FlagGroup {
	return []FlagGroup{
		group("Data", func(f *pflag.FlagSet) {
			f.StringVar(&c.DataDir, "data-dir", c.DataDir, "Directory of everything that is kept: journal, snapshots, certificates and admin.kubeconfig. Made on first start.")
			f.BoolVar(&c.Ephemeral, "ephemeral", c.Ephemeral, "Keep everything in memory and nothing in --data-dir: what was written is gone when the daemon ends. For tests.")
			f.StringVar(&c.Kubeconfig, "write-kubeconfig", c.Kubeconfig, "File of the administrator's kubeconfig, whose directory must be there (default admin.kubeconfig in the data directory). With --ephemeral it is removed at the end.")
			f.BoolVar(&c.AcceptDataLoss, "accept-data-loss", c.AcceptDataLoss, "Open a data directory from which something is missing that was durable, with what is left. For one start: resource versions leap, so that none is given out twice.")
			f.StringVar(&c.Naming, "naming", c.Naming, "Naming profile of groups, labels and media types: platform, or kubernetes for existing clients. A data directory keeps the profile that it was made with.")
		}),
		group("Serving", func(f *pflag.FlagSet) {
			f.StringVar(&c.Serving.BindAddress, "bind-address", c.Serving.BindAddress, "IP address to listen on; 0.0.0.0 or :: is every interface.")
			f.IntVar(&c.Serving.SecurePort, "secure-port", c.Serving.SecurePort, "Port of HTTPS; 0 picks a free one, which the ready line and admin.kubeconfig then name.")
			f.StringVar(&c.Serving.AdvertiseAddress, "advertise-address", c.Serving.AdvertiseAddress, "IP address at which the members of the cluster reach the daemon (default the bind address or, if that is every interface, the first address that is not local).")
			f.Var(&c.Serving.RequestTimeout, "request-timeout", "Longest time of a request other than a watch.")
			f.IntVar(&c.Serving.MinRequestTimeout, "min-request-timeout", c.Serving.MinRequestTimeout, "Seconds that a watch without timeoutSeconds is kept open at least; the actual time is random, up to twice as long.")
			f.IntVar(&c.Serving.MaxRequestsInFlight, "max-requests-inflight", c.Serving.MaxRequestsInFlight, "Reads that may be in flight; more are answered 429. With priority and fairness this and the next are added up, and make the seats that priority levels share.")
			f.IntVar(&c.Serving.MaxMutatingRequestsInFlight, "max-mutating-requests-inflight", c.Serving.MaxMutatingRequestsInFlight, "Writes that may be in flight; more are answered 429.")
			f.BoolVar(&c.Serving.PriorityAndFairness, "enable-priority-and-fairness", c.Serving.PriorityAndFairness, "Let requests wait, and refuse them, as the objects FlowSchema and PriorityLevelConfiguration say, instead of by the two limits alone.")
			f.IntVar(&c.Serving.MaxWatches, "max-watches", c.Serving.MaxWatches, "Watches that may be open; more are answered 429.")
			f.IntVar(&c.Serving.MaxConnections, "max-connections", c.Serving.MaxConnections, "Connections that may be open; 0 is what the limit of open files allows, less a reserve. Where there are as many, the oldest one that has not sent a whole request is closed.")
			f.IntVar(&c.Serving.MaxConnectionsPerAddress, "max-connections-per-address", c.Serving.MaxConnectionsPerAddress, "Connections that may be open from one address, for IPv6 one network of 64 bits; 0 is half of all. Clients on this machine have no such bound.")
			f.BoolVar(&c.Serving.DisableHTTP2, "disable-http2-serving", c.Serving.DisableHTTP2, "Offer clients HTTP/1.1 only. HTTP/2 saves connections where one client has many requests and watches under way, and costs more for each request; those who offer both will use it.")
			f.IntVar(&c.Serving.HTTP2MaxStreams, "http2-max-streams-per-connection", c.Serving.HTTP2MaxStreams, "Requests and watches that a client may have under way on one connection with HTTP/2; 0 is 100. Clients open another connection for more.")
			f.Var(&c.Serving.MaxRequestBytes, "max-request-bytes", "Most bytes of data of one object, as JSON; with managedFields and escapes it may have twice as many. Larger writes are answered 413.")
			f.Var(&c.Serving.ShutdownDelay, "shutdown-delay-duration", "Time between failing /readyz and closing the port on shutdown.")
			f.BoolVar(&c.Serving.Profiling, "profiling", c.Serving.Profiling, "Serve profiles of the running daemon below /debug/pprof/, to whoever is allowed that path.")
			f.BoolVar(&c.Serving.Console, "console", c.Serving.Console, "Serve pages for browsers at /console/: what the server does, its objects and who manages their fields, and who may do what. They show what whoever signs in may read, and write nothing.")
			f.StringSliceVar(&c.Serving.CORSAllowedOrigins, "cors-allowed-origins", c.Serving.CORSAllowedOrigins, "Regular expressions of the origins whose pages in browsers may read answers, with commas, such as ^https://example\\.com$. None switches CORS off.")
		}),
		group("Logging", func(f *pflag.FlagSet) {
			f.StringVar(&c.Logging.Format, "logging-format", c.Logging.Format, "Form of the log on standard error: text or json.")
			f.IntVarP(&c.Logging.Verbosity, "v", "v", c.Logging.Verbosity, "Level of the log: 0 is information and errors, 2 and above every detail.")
		}),
		group("API", func(f *pflag.FlagSet) {
			f.Var(&c.API.RuntimeConfig, "runtime-config", "Versions and resources to switch off or on: <group>/<version>[/<resource>]=true|false, api/all, api/ga, api/beta, api/alpha; several with commas.")
			f.Var(&c.API.FeatureGates, "feature-gates", "Feature gates to set, such as CBORServingAndStorage=true; several with commas. They are listed below the flags.")
			f.Var(&c.API.EventTTL, "event-ttl", "How long an Event is kept after it was last written; 0 keeps it.")
			f.StringVar((*string)(&c.Controllers), "controllers", string(c.Controllers), "Built-in controllers to run: "+strings.Join(controllerNames(), ", ")+"; * is all that run by themselves, -name switches one off, as in *,-garbage-collector-controller.")
		}),
		group("etcd", c.Etcd.flags),
		group("Encryption", c.Encryption.flags),
		group("Namespaces", c.Namespaces.flags),
		group("Services", func(f *pflag.FlagSet) {
			f.StringVar(&c.Services.ClusterIPRange, "service-cluster-ip-range", c.Services.ClusterIPRange, "Range of the addresses of Services; or two, an IPv4 and an IPv6 one, with a comma. The first one's family is the default.")
			f.StringVar(&c.Services.NodePortRange, "service-node-port-range", c.Services.NodePortRange, "Range of the ports of nodes that Services get, both ends included.")
		}),
		group("Nodes", c.Nodes.flags),
		group("Autoscaling", c.Autoscaling.flags),
		group("Kubelets", c.Kubelets.flags),
		group("TLS", c.TLS.flags),
		group("Authentication", c.Authentication.flags),
		group("Service accounts", c.ServiceAccounts.flags),
		group("Bootstrap tokens", c.BootstrapTokens.flags),
		group("Certificate signing", c.CertificateSigning.flags),
		group("Authorization", c.Authorization.flags),
		group("Admission", c.Admission.flags),
		group("Aggregation", c.Aggregation.flags),
		group("Audit", c.Audit.flags),
	}
}

// Flags keep the order in which they are defined, by their meaning.
func group(title string, define func(*pflag.FlagSet)) FlagGroup {
	g := FlagGroup{title, pflag.NewFlagSet(title, pflag.ContinueOnError)}
	g.Flags.SortFlags = false
	define(g.Flags)
	return g
}

// Override sets in c what was given on the command line. Flags are parsed before the file is read, since
// --config is one of them, and only those that were given may win over the file.
func (c *Config) Override(given *pflag.FlagSet) error {
	for _, g := range c.Flags() {
		var err error
		g.Flags.VisitAll(func(f *pflag.Flag) {
			// Each call of Flags makes new sets, so flags are matched by name. The first error is kept.
			if from := given.Lookup(f.Name); err == nil && from != nil && from.Changed {
				err = copyValue(f.Value, from.Value)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// copyValue makes a flag say what another one says. A list takes the place of the whole list.
func copyValue(to, from pflag.Value) error {
	// String writes a list in brackets, which Set would take for part of its items.
	if list, ok := from.(pflag.SliceValue); ok {
		return to.(pflag.SliceValue).Replace(list.GetSlice())
	}
	return to.Set(from.String())
}

// flagValues are the values of all flags, by name. Secrets are in files, so flags have none.
func (c Config) flagValues() map[string]string {
	values := map[string]string{}
	for _, g := range c.Flags() {
		g.Flags.VisitAll(func(f *pflag.Flag) { values[f.Name] = f.Value.String() })
	}
	return values
}

// PrintFlags writes the sections of the help text: their titles, the flags of each, and the feature
// gates.
func PrintFlags(w io.Writer, groups []FlagGroup) {
	const gates = "Feature gates"
	titles := make([]string, len(groups), len(groups)+1)
	for i, g := range groups {
		titles[i] = g.Title
	}
	fmt.Fprintf(w, "\nSections: %s.\n", strings.Join(append(titles, gates), ", "))
	for _, g := range groups {
		fmt.Fprintf(w, "\n%s flags:\n%s", g.Title, g.Flags.FlagUsagesWrapped(100))
	}
	fmt.Fprintf(w, "\n%s:\n      %s\n", gates, strings.Join(features.Help(), "\n      "))
}
