package present

// What is shown for values that are absent.
const (
	none    = "<none>"
	unknown = "<unknown>"
	unset   = "<unset>"
)

// A cellFunc writes one cell of a row, which is one JSON value.
//
// It appends to b and returns it, so that a table of thousands of rows takes no memory for its cells. An
// absent value is no error: rows of objects that nobody has filled in yet are shown as well.
type cellFunc func(b []byte, r *row, arg string) []byte

// cellFuncs are the functions that a column path may name after "func:".
var cellFuncs = map[string]cellFunc{
	// of any kind; those with an argument take a dotted path
	"age":       showAge,       // time since metadata.creationTimestamp
	"createdAt": showCreated,   // metadata.creationTimestamp itself
	"since":     showSince,     // time since the time at the path
	"count":     showCount,     // number of items or fields at the path
	"join":      showJoin,      // the texts of a list, or a field (path/field, else name) of its objects, with commas
	"first":     showFirst,     // the first text of a list
	"pairs":     showPairs,     // a map of texts as a=b,c=d
	"parts":     showParts,     // the texts at several paths (a.b/a.c), with slashes
	"text":      showText,      // a number or a text, as text
	"truth":     showBool,      // True or False
	"dataCount": showDataCount, // number of keys in data and binaryData
	"condition": showCondition, // status of a condition of a type, and what stands for none (type/none)
	"phase":     showPhase,     // the text at the path, or that the object is being deleted

	// of workloads; the argument is the path of the template or of the selector, if not the usual one
	"ready":      showReady,      // status.readyReplicas/spec.replicas
	"containers": showContainers, // names of the containers of spec.template
	"images":     showImages,     // and their images
	"selector":   showSelector,   // spec.selector as a label selector
	"controller": showController, // the owner that controls it

	// of Pods
	"podReady":          showPodReady,    // ready/all containers
	"podStatus":         showPodStatus,   // phase, or what keeps it from running
	"podRestarts":       showPodRestarts, // restarts, and when the last one was
	"podReadinessGates": showPodGates,    // true/all readiness gates
	"podIP":             showPodIP,

	// of Jobs, autoscalers and quotas
	"jobStatus":      showJobStatus,
	"jobCompletions": showJobCompletions,
	"jobDuration":    showJobDuration,
	"metricTargets":  showMetricTargets, // current/wanted value of each metric
	"quota":          showQuota,         // used/hard of the "limits" or the "requests"

	// of Events, of either group
	"eventLastSeen":  showEventLastSeen,
	"eventFirstSeen": showEventFirstSeen,
	"eventCount":     showEventCount,
	"eventObject":    showEventObject,
	"eventSubobject": showEventSubobject,
	"eventSource":    showEventSource,
	"eventMessage":   showEventMessage,

	// of ComponentStatuses
	"componentHealth":    showComponentHealth,
	"componentCondition": showComponentCondition, // a field of the condition Healthy

	// of Nodes and of the network
	"nodeStatus":         showNodeStatus,
	"nodeRoles":          showNodeRoles,
	"nodeInternalIP":     showNodeInternalIP,
	"nodeExternalIP":     showNodeExternalIP,
	"servicePorts":       showServicePorts,
	"serviceExternalIPs": showServiceExternalIPs,
	"endpoints":          showEndpoints,
	"slicePorts":         showSlicePorts,
	"sliceAddresses":     showSliceAddresses,
	"ingressHosts":       showIngressHosts,
	"ingressPorts":       showIngressPorts,
	"balancerAddresses":  showBalancerAddresses, // of status.loadBalancer
	"classParameters":    showClassParameters,
	"addressParent":      showAddressParent,

	// of storage
	"defaultName":   showDefaultName,   // the name, marked by the annotations of a default class
	"accessModes":   showAccessModes,   // the modes at the path, in short
	"volumeClass":   showStorageClass,  // the storage class of a volume or a claim
	"claimCapacity": showClaimCapacity, // what a claim has got, once it has a volume
	"claimModes":    showClaimModes,
	"deviceState":   showDeviceState, // of a ResourceClaim

	// of access and extension
	"subjects":         showSubjects, // those of a kind, of a role binding
	"requestDuration":  showRequestDuration,
	"requestCondition": showRequestCondition,
	"paramRef":         showParamRef,
	"apiService":       showAPIService,
	"apiAvailable":     showAPIAvailable,
	"groupResource":    showGroupResource, // at spec.resource
	"migrationStatus":  showMigrationStatus,
}
