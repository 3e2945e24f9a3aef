package api_test

// PodTemplateSpec is a workload spec with a selector and a minimal template, without braces.
const PodTemplateSpec = `"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`

// PodTemplateWith returns the template of PodTemplateSpec with further fields in its spec.
func PodTemplateWith(spec string) string {
	return `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],` + spec + `}}`
}

// podDefaults are the defaults of a template's spec, except for containers.
const podDefaults = `"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","securityContext":{},"schedulerName":"default-scheduler"`

// DefaultedPodTemplate is the template of PodTemplateSpec with its defaults.
const DefaultedPodTemplate = `{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{},"terminationMessagePath":"/dev/termination-log",
	"terminationMessagePolicy":"File","imagePullPolicy":"Always"}],` + podDefaults + `}}`

// JobTemplateSpec is the spec of a minimal Job, without braces.
const JobTemplateSpec = `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`

// InvalidPodSpec has a fault that a function reports, not the declaration. It shows whether
// templates are validated like Pods.
const InvalidPodSpec = `"hostPID":true,"shareProcessNamespace":true`

// InvalidPodSpecFault is the fault of InvalidPodSpec, after the path of the template.
const InvalidPodSpecFault = ".spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled"
