// Package apiregistration validates and defaults APIServices. An APIService registers one version
// of an API group, served by this server or by an aggregated server behind a Service.
package apiregistration
