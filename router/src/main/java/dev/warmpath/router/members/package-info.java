/**
 * Which replicas there are. Sources say what replicas there shall be, each as the configuration
 * would write it; {@code Membership} makes them members of the fleet, and lets those go that nobody
 * names any more. Start reading there.
 *
 * <pre>
 * configuration, admin ─────────────────────────────────┐
 *                                                       │ ReplicaConfig
 * file        FileLook ──────┐                          ▼
 * DNS         DnsLook ───────┼─ Found ─ ReplicaSource ─ Membership.offer ─ Member ─ Fleet
 * Kubernetes  KubernetesLook ┤                          ▲        ▲
 *          InferencePoolLook ┘       engines' ranks and │        │ may it be connected to?
 *                                 events (EventSources) ┘        └ ReplicaCheck (HostRules)
 * </pre>
 *
 * <p>A new source of replicas is a {@code Look}, its line in {@code Look.of} and its keys in {@code
 * DiscoveryConfig}. A look returns all that there is now; when to look, failures, status and
 * metrics are {@code ReplicaSource}'s. What finds addresses gives each to {@code Found.add} with
 * its annotations; what is told rather than asks keeps what it was told and wakes its source
 * ({@code Look.onChange}).
 */
@NullMarked
package dev.warmpath.router.members;

import org.jspecify.annotations.NullMarked;
