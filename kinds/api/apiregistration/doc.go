// Package apiregistration holds the rules of APIServices. An APIService announces one version of a
// group, which is served by this server or by another one behind a Service.
package apiregistration
