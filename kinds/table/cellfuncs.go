package table

const (
	none    = "<none>"
	unknown = "<unknown>"
	unset   = "<unset>"
)

// A cellFunc appends one cell of a row, as a JSON value, to b. It returns no error, because
// incomplete objects are also shown.
type cellFunc func(b []byte, r *row, arg string) []byte

// cellFuncs contains the functions that a column path can name after "func:".
var cellFuncs = map[string]cellFunc{
	"createdAt":  showCreated,   // metadata.creationTimestamp itself
	"count":      showCount,     // number of items or fields at the path
	"dataCount":  showDataCount, // number of keys in data and binaryData
	"isTrue":     showIsTrue,    // whether a condition is True, as a boolean
	"eventCount": showEventCount,
}

// textFuncs contains the functions of string columns.
var textFuncs = map[string]func(r *row, arg string) string{
	// Functions for any kind, with dotted paths as arguments.
	"age":   showAge,   // time since metadata.creationTimestamp
	"since": showSince, // time since the timestamp at the path
	// join shows a list of strings, or one field of each object (path/field; name by default).
	"join":      showJoin,
	"first":     showFirst,     // the first string of a list
	"pairs":     showPairs,     // a map of strings as a=b,c=d
	"parts":     showParts,     // the strings at several paths (a.b/a.c), with slashes
	"text":      showText,      // a number or string, as a string
	"truth":     showBool,      // True or False
	"list":      showList,      // like join, but empty if there are none
	"condition": showCondition, // status of a condition, with a fallback (type/text)
	"outcome":   showOutcome,   // last condition that is True, with a fallback (text/type/type)
	"phase":     showPhase,     // the string at the path, or Terminating
	"union":     showUnion,     // the name of the field that the object at the path has

	// Functions for workloads. The argument is the path of the Pod template or selector, and
	// defaults to the usual path.
	"ready":      showReady, // status.readyReplicas/spec.replicas
	"containers": showContainers,
	"images":     showImages,
	"selector":   showSelector, // spec.selector as a label selector
	"controller": showController,

	// Functions for Pods.
	"podReady":          showPodReady,    // ready/total containers
	"podStatus":         showPodStatus,   // phase, or why it is not running
	"podRestarts":       showPodRestarts, // restarts, and the time since the last one
	"podReadinessGates": showPodGates,    // true/total readiness gates
	"podIP":             showPodIP,
	"podGroupStatus":    showPodGroupStatus,

	// Functions for Jobs, autoscalers and quotas.
	"jobStatus":      showJobStatus,
	"jobCompletions": showJobCompletions,
	"jobDuration":    showJobDuration,
	"metricTargets":  showMetricTargets, // current/target value of each metric
	"quota":          showQuota,         // used/hard of the "limits" or the "requests"

	// Functions for Events of the core group and of events.k8s.io.
	"eventLastSeen":  showEventLastSeen,
	"eventFirstSeen": showEventFirstSeen,
	"eventObject":    showEventObject,
	"eventSubobject": showEventSubobject,
	"eventSource":    showEventSource,
	"eventMessage":   showEventMessage,

	// Functions for ComponentStatuses.
	"componentHealth":    showComponentHealth,
	"componentCondition": showComponentCondition, // a field of the condition Healthy

	// Functions for Nodes and networking.
	"nodeStatus":         showNodeStatus,
	"nodeRoles":          showNodeRoles,
	"nodeInternalIP":     showNodeInternalIP,
	"nodeExternalIP":     showNodeExternalIP,
	"nodeKernel":         showNodeKernel, // the version, and the architecture in parentheses
	"servicePorts":       showServicePorts,
	"serviceExternalIPs": showServiceExternalIPs,
	"endpoints":          showEndpoints,
	"slicePorts":         showSlicePorts,
	"sliceAddresses":     showSliceAddresses,
	"ingressHosts":       showIngressHosts,
	"ingressPorts":       showIngressPorts,
	"balancerAddresses":  showBalancerAddresses, // status.loadBalancer
	"classParameters":    showClassParameters,
	"addressParent":      showAddressParent,

	// Functions for storage.
	"defaultName":   showDefaultName,   // the name, marked by the annotation of a default class
	"newestDefault": showNewestDefault, // like defaultName, for the newest default class of a list
	"accessModes":   showAccessModes,   // the modes at the path, abbreviated
	"volumeClass":   showStorageClass,  // the storage class of a volume or claim
	"claimCapacity": showClaimCapacity, // the capacity of a bound claim
	"claimModes":    showClaimModes,
	"deviceState":   showDeviceState, // of a ResourceClaim

	// Functions for access control and extensions.
	"subjects":         showSubjects, // subjects of one kind in a role binding
	"requestDuration":  showRequestDuration,
	"requestCondition": showRequestCondition,
	"paramRef":         showParamRef,
	"apiService":       showAPIService,
	"apiAvailable":     showAPIAvailable,
	"groupResource":    showGroupResource,  // at spec.resource
	"servedVersions":   showServedVersions, // of a CRD
}
