// Package apiregistration holds the rules of APIServices.
//
// An APIService announces one version of a group, either of this server or of another one behind a Service.
// Clients list them to see what is available.
package apiregistration
