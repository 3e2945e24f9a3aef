// Package config reads the --admission-control-config-file, which configures admission plugins.
//
// The file is an AdmissionConfiguration in YAML or JSON. Its apiVersion is
// apiserver.config.platform.io/v1 or the deprecated apiserver.platform.io/v1alpha1:
//
//	apiVersion: apiserver.config.platform.io/v1
//	kind: AdmissionConfiguration
//	plugins:
//	- name: <plugin>
//	  configuration: <an object>   # or
//	  path: <its file, relative to this one>
//
// kinds/api/apiserver/admission.proto declares the objects. For compatibility, a file without kind
// may hold only the configuration of PodNodeSelector (podNodeSelectorPluginConfig) or
// ImagePolicyWebhook (imagePolicy).
package config
