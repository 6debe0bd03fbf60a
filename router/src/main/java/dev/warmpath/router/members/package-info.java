/**
 * Which replicas there are. Sources say what replicas there shall be, each as the configuration
 * would write it; {@link Membership} makes them members of the fleet, and lets those go that nobody
 * names any more. Start reading there.
 *
 * <pre>{@code
 * configuration, admin ─────────────────────────────────┐
 *                                                       │ ReplicaConfig
 * file        FileLook ──────┐                          ▼
 * DNS         DnsLook ───────┼─ Found ─ ReplicaSource ─ Membership.offer ─ Member ─ Fleet
 * Kubernetes  KubernetesLook ┤                          ▲        ▲
 *          InferencePoolLook ┘       engines' ranks and │        │ may it be connected to?
 *                                 ranks (AnnouncedRanks) ┘        └ ReplicaCheck (HostRules)
 * }</pre>
 *
 * <p>A new source of replicas is a {@link Look}, its line in {@code Look.of} and its keys in {@code
 * DiscoveryConfig}. A look returns all that there is now; when to look, failures, status and
 * metrics are {@link ReplicaSource}'s.
 *
 * <p>{@link Prewarmer} gives prefixes that sessions share to engines that have joined, as {@code
 * dispatch.Prewarming} decides.
 */
@NullMarked
package dev.warmpath.router.members;

import org.jspecify.annotations.NullMarked;
