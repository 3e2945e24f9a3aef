package catalogtest

const PodTemplateSpec = `"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`

// PodTemplateWith is the template of PodTemplateSpec with further fields of its spec.
func PodTemplateWith(spec string) string {
	return `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}],` + spec + `}}`
}

// podDefaults are what the spec of a form gets beyond its containers.
const podDefaults = `"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","securityContext":{},"schedulerName":"default-scheduler"`

const DefaultedPodTemplate = `{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{},"terminationMessagePath":"/dev/termination-log",
	"terminationMessagePolicy":"File","imagePullPolicy":"Always"}],` + podDefaults + `}}`

const Autoscaled = `"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"maxReplicas":3`

const JobTemplateSpec = `"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}`

// InvalidPodSpec is a fault that only a function finds, not a declaration: it shows that a form of
// Pods is judged as a Pod is.
const InvalidPodSpec = `"hostPID":true,"shareProcessNamespace":true`

const InvalidPodSpecFault = ".spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled"
