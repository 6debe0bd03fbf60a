{{- define "warmpath.name" -}}
{{- if contains .Chart.Name .Release.Name -}}{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else -}}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}{{- end -}}
{{- end -}}

{{- define "warmpath.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "warmpath.labels" -}}
{{ include "warmpath.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "warmpath.account" -}}
{{- if .Values.serviceAccount.create -}}{{ .Values.serviceAccount.name | default (include "warmpath.name" .) }}
{{- else -}}{{ .Values.serviceAccount.name | default "default" }}{{- end -}}
{{- end -}}

{{/* Their headless Service and its Secret. */}}
{{- define "warmpath.routers" -}}
{{ include "warmpath.name" . | trunc 55 | trimSuffix "-" }}-routers
{{- end -}}

{{/* The Service at which gateways ask. */}}
{{- define "warmpath.picker" -}}
{{ include "warmpath.name" . | trunc 56 | trimSuffix "-" }}-picker
{{- end -}}

{{/* Whether it reads the Kubernetes API. */}}
{{- define "warmpath.readsApi" -}}
{{- if has .Values.discovery.kind (list "kubernetes" "inference-pool") -}}true{{- end -}}
{{- end -}}

{{/* Whether the routers know of each other. */}}
{{- define "warmpath.clustered" -}}
{{- if and .Values.cluster.enabled (gt (int .Values.replicas) 1) (eq .Values.mode "standalone") (not .Values.config.cluster) -}}true{{- end -}}
{{- end -}}

{{/* The chart makes the mesh's secret. */}}
{{- define "warmpath.makesSecret" -}}
{{- if and (include "warmpath.clustered" .) (not .Values.cluster.redisUrl) (not .Values.secrets.cluster) -}}true{{- end -}}
{{- end -}}

{{/* The configuration file: what stands in `config` wins. */}}
{{- define "warmpath.config" -}}
{{- $found := list -}}
{{- with .Values.discovery -}}
{{- if eq .kind "kubernetes" -}}
{{- $found = list (dict "kind" "kubernetes" "service" .service "port-name" .portName "replica" .replica) -}}
{{- else if eq .kind "inference-pool" -}}
{{- if not .pool -}}{{ fail "discovery.kind inference-pool needs discovery.pool" }}{{- end -}}
{{- $found = list (dict "kind" "inference-pool" "pool" .pool "replica" .replica) -}}
{{- else if eq .kind "dns" -}}
{{- if .deletionCost -}}{{ fail "discovery.deletionCost needs kind kubernetes or inference-pool" }}{{- end -}}
{{- $found = list (dict "kind" "dns" "host" .service "port" (int .port) "replica" .replica) -}}
{{- else if ne .kind "none" -}}
{{- fail (printf "discovery.kind must be kubernetes, inference-pool, dns or none: %s" .kind) -}}
{{- end -}}
{{- end -}}
{{- if and $found .Values.discovery.deletionCost -}}{{- $_ := set (first $found) "deletion-cost" true -}}{{- end -}}
{{- $host := ternary "127.0.0.1" "0.0.0.0" (eq .Values.mode "sidecar") -}}
{{- $made := dict "listen" (dict "host" $host "port" 8080 "metrics" true) -}}
{{- if $found -}}{{- $_ := set $made "discovery" $found -}}{{- end -}}
{{- if .Values.picker.enabled -}}
{{- if ne .Values.mode "standalone" -}}{{ fail "picker needs mode standalone" }}{{- end -}}
{{- $picker := dict "host" "0.0.0.0" "port" (int .Values.picker.port) -}}
{{- if eq .Values.picker.tls "self-signed" -}}{{- $_ := set $picker "self-signed" true -}}
{{- else if eq .Values.picker.tls "secret" -}}
{{- $_ := required "picker.tls secret needs secrets.pickerTls" .Values.secrets.pickerTls -}}
{{- $_ := set $picker "tls-cert" "/etc/warmpath-secrets/pickerTls/tls.crt" -}}
{{- $_ := set $picker "tls-key" "/etc/warmpath-secrets/pickerTls/tls.key" -}}
{{- end -}}
{{- $_ := set $made "picker" $picker -}}
{{- end -}}
{{- with .Values.secrets -}}
{{- $at := "/etc/warmpath-secrets" -}}
{{- if .tls -}}
{{- $_ := set $made.listen "tls-cert" (printf "%s/tls/tls.crt" $at) -}}
{{- $_ := set $made.listen "tls-key" (printf "%s/tls/tls.key" $at) -}}
{{- end -}}
{{- if .apiKeys -}}{{- $_ := set $made "auth" (dict "keys-file" (printf "%s/apiKeys/keys.yaml" $at)) -}}{{- end -}}
{{- if .adminKey -}}{{- $_ := set $made "admin" (dict "key-file" (printf "%s/adminKey/admin-key" $at)) -}}{{- end -}}
{{- $engines := dict -}}
{{- if .engineKey -}}{{- $_ := set $engines "api-key-file" (printf "%s/engineKey/api-key" $at) -}}{{- end -}}
{{- if .engineCa -}}{{- $_ := set $engines "tls-ca" (printf "%s/engineCa/ca.crt" $at) -}}{{- end -}}
{{- if $engines -}}{{- $_ := set $made "upstream" $engines -}}{{- end -}}
{{- if include "warmpath.clustered" $ -}}
{{- $cluster := dict "name" (include "warmpath.name" $) -}}
{{- if $.Values.cluster.redisUrl -}}
{{- $_ := set $cluster "mode" "redis" -}}
{{- $_ := set $cluster "redis-url" $.Values.cluster.redisUrl -}}
{{- if .cluster -}}{{- $_ := set $cluster "redis-password-file" (printf "%s/cluster/redis-password" $at) -}}{{- end -}}
{{- else -}}
{{- $_ := set $cluster "mode" "mesh" -}}
{{- $_ := set $cluster "dns" (printf "%s.%s.svc" (include "warmpath.routers" $) $.Release.Namespace) -}}
{{- $_ := set $cluster "port" (int $.Values.cluster.port) -}}
{{- $_ := set $cluster "secret-file" (printf "%s/cluster/cluster-secret" $at) -}}
{{- end -}}
{{- $_ := set $made "cluster" $cluster -}}
{{- end -}}
{{- end -}}
{{- toYaml (mergeOverwrite $made (deepCopy .Values.config)) -}}
{{- end -}}

{{- define "warmpath.container" -}}
name: warmpath
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  - {name: WARMPATH_JAVA_OPTS, value: {{ .Values.javaOptions | quote }}}
  {{- with .Values.env }}{{ toYaml . | nindent 2 }}{{ end }}
{{- if eq .Values.mode "sidecar" }}
{{/* It listens on loopback alone, so the kubelet cannot ask it by HTTP. */}}
restartPolicy: Always
startupProbe: {exec: {command: [bash, -c, "exec 3<>/dev/tcp/127.0.0.1/8080"]}, periodSeconds: 2, failureThreshold: 90}
{{- if .Values.secrets.tls }}
livenessProbe: {exec: {command: [bash, -c, "exec 3<>/dev/tcp/127.0.0.1/8080"]}, periodSeconds: 10}
{{- else }}
livenessProbe: {exec: {command: [bash, -c, "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /health/live HTTP/1.0\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ $status = 200 ]"]}, periodSeconds: 5, timeoutSeconds: 1, failureThreshold: 6}
{{- end }}
{{- else }}
ports:
  - {name: http, containerPort: 8080}
  {{- if .Values.picker.enabled }}
  - {name: picker, containerPort: {{ .Values.picker.port }}}
  {{- end }}
  {{- if and (include "warmpath.clustered" .) (not .Values.cluster.redisUrl) }}
  - {name: routers, containerPort: {{ .Values.cluster.port }}}
  {{- end }}
{{- $scheme := ternary "HTTPS" "HTTP" (not (empty .Values.secrets.tls)) }}
startupProbe: {httpGet: {path: /health/live, port: http, scheme: {{ $scheme }}}, periodSeconds: 2, failureThreshold: 90}
livenessProbe: {httpGet: {path: /health/live, port: http, scheme: {{ $scheme }}}, periodSeconds: 5, timeoutSeconds: 1, failureThreshold: 6}
readinessProbe: {httpGet: {path: /health/ready, port: http, scheme: {{ $scheme }}}, periodSeconds: 3, timeoutSeconds: 2}
{{- end }}
resources: {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: warmpath-config, mountPath: /etc/warmpath, readOnly: true}
  - {name: warmpath-state, mountPath: /var/lib/warmpath}
  {{- if .Values.models.volume }}
  - {name: warmpath-models, mountPath: /models, readOnly: true}
  {{- end }}
  {{- range $name, $secret := .Values.secrets }}
  {{- if $secret }}
  - {name: warmpath-{{ kebabcase $name }}, mountPath: /etc/warmpath-secrets/{{ $name }}, readOnly: true}
  {{- end }}
  {{- end }}
  {{- if include "warmpath.makesSecret" . }}
  - {name: warmpath-cluster, mountPath: /etc/warmpath-secrets/cluster, readOnly: true}
  {{- end }}
{{- end -}}

{{- define "warmpath.volumes" -}}
- {name: warmpath-config, configMap: {name: {{ include "warmpath.name" . }}}}
- name: warmpath-state
  {{- toYaml .Values.state.volume | nindent 2 }}
{{- with .Values.models.volume }}
- name: warmpath-models
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- range $name, $secret := .Values.secrets }}
{{- if $secret }}
- {name: warmpath-{{ kebabcase $name }}, secret: {secretName: {{ $secret }}}}
{{- end }}
{{- end }}
{{- if include "warmpath.makesSecret" . }}
- {name: warmpath-cluster, secret: {secretName: {{ include "warmpath.routers" . }}}}
{{- end }}
{{- end -}}
