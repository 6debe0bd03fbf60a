package dev.warmpath.router.members;

import dev.warmpath.router.config.DiscoveryConfig;
import dev.warmpath.router.config.ReplicaTemplate;
import dev.warmpath.router.prompt.InferenceRules;
import dev.warmpath.router.prompt.InferenceRules.Rewrite;
import dev.warmpath.router.prompt.InferenceRules.Rules;
import dev.warmpath.router.prompt.InferenceRules.Target;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceList;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds a replica at each port of an InferencePool in each of its pods that is ready, and what
 * InferenceObjectives and InferenceModelRewrites say of the pool. They are only read: a pool's
 * status is for the gateway to write.
 *
 * <p>Each look lists the pool and its pods; watches only tell when to look again, as with {@link
 * KubernetesLook}.
 *
 * <p>Confined to the thread of its source, but for {@link #close}.
 */
final class InferencePoolLook implements Look {

  /*
   * Two API groups have had this kind. The newer one is asked first; the older one only if that is
   * not served or has no pool of the name, so a cluster that has both follows the newer one, and
   * one that is upgraded keeps its replicas until its pool is there too. Both are watched then.
   *
   *   inference.networking.k8s.io/v1             spec.selector.matchLabels  spec.targetPorts[].number
   *   inference.networking.x-k8s.io/v1alpha2     spec.selector              spec.targetPortNumber
   */

  private static final String OLDER_GROUP = "inference.networking.x-k8s.io";
  private static final ResourceDefinitionContext V1 =
      kind("inference.networking.k8s.io", "v1", "InferencePool");
  private static final ResourceDefinitionContext V1ALPHA2 =
      kind(OLDER_GROUP, "v1alpha2", "InferencePool");

  /**
   * Kinds that speak of a pool, each in two groups that may both be served; the first goes before.
   */
  private static final List<ResourceDefinitionContext> OBJECTIVES =
      kindsOfRules("InferenceObjective");

  private static final List<ResourceDefinitionContext> REWRITES =
      kindsOfRules("InferenceModelRewrite");

  private static final String PODS = "pods";

  /** Annotations of a pod that name those of the pool's ports which it serves; the first counts. */
  private static final List<String> ACTIVE_PORTS =
      List.of("llm-d.ai/active-ports", "inference.networking.k8s.io/active-ports");

  private static final int MAX_LABELS = 64;
  private static final int MAX_PORTS = 8;
  private static final int MAX_PORT = 65_535;
  private static final int MAX_WEIGHT = 1_000_000;
  private static final int MAX_LOOKS_WITHOUT_RULES = 30;

  private static final Logger LOG = LoggerFactory.getLogger(InferencePoolLook.class);

  /** What the router needs of a pool. */
  private record Pool(Map<String, String> labels, List<Integer> ports) {}

  private final DiscoveryConfig config;
  private final InferenceRules rules;
  private final KubernetesConnection connection;
  private final @Nullable DeletionCosts costs;

  /** Kinds of rules that are not there, as the log has told. */
  private Set<String> absent = Set.of();

  /** Rules that make no sense, each with the reason. */
  private List<String> refusedRules = List.of();

  /** How many more looks may leave out what no watch has told of. */
  private int looksWithoutRules;

  /**
   * @param config of a source of kind inference-pool
   */
  InferencePoolLook(DiscoveryConfig config, InferenceRules rules) {
    this(config, rules, new KubernetesConnection(() -> Config.autoConfigure(null)));
  }

  InferencePoolLook(DiscoveryConfig config, InferenceRules rules, KubernetesConnection connection) {
    this.config = config;
    this.rules = rules;
    this.connection = connection;
    this.costs =
        config.deletionCost()
            ? new DeletionCosts(config.name(), connection, System::nanoTime)
            : null;
    rules.set(config.name(), Rules.NONE);
  }

  private static ResourceDefinitionContext kind(String group, String version, String kind) {
    return new ResourceDefinitionContext.Builder()
        .withGroup(group)
        .withVersion(version)
        .withKind(kind)
        .withPlural(kind.toLowerCase(Locale.ROOT) + "s")
        .withNamespaced(true)
        .build();
  }

  private static List<ResourceDefinitionContext> kindsOfRules(String kind) {
    return List.of(kind("llm-d.ai", "v1alpha2", kind), kind(OLDER_GROUP, "v1alpha2", kind));
  }

  @Override
  public void onChange(Runnable wake) {
    connection.onChange(wake);
  }

  @Override
  public Found look() throws IOException {
    try {
      String namespace = connection.namespace(config.namespace());
      Found found = new Found();
      if (mayHaveOtherRules(connection.takeChanges())) {
        looksWithoutRules = 0; // if this fails
        List<String> refused = new ArrayList<>();
        rules.set(config.name(), rules(namespace, refused));
        refusedRules = refused;
        looksWithoutRules = MAX_LOOKS_WITHOUT_RULES;
      }
      refusedRules.forEach(found::refuse);
      Pool pool = pool(namespace);
      if (pool == null) {
        connection.unwatch(PODS);
        found.refuse("InferencePool " + namespace + "/" + config.pool() + ": there is none");
        return found;
      }
      Map<String, String> podByAddress = new HashMap<>();
      connection
          .list(
              PODS,
              connection.client().pods().inNamespace(namespace).withLabels(pool.labels()),
              InferencePoolLook::reads)
          .stream()
          .filter(InferencePoolLook::takesRequests)
          .sorted(Comparator.comparing(pod -> pod.getMetadata().getName()))
          .forEach(pod -> {
            add(found, pool, pod);
            String host = pod.getStatus().getPodIP();
            String name = pod.getMetadata().getName();
            pool.ports()
                .forEach(port -> podByAddress.put(ReplicaTemplate.address(host, port), name));
          });
      if (costs != null) {
        costs.found(namespace, found, podByAddress);
      }
      return found;
    } catch (KubernetesClientException e) {
      throw new IOException(KubernetesLook.why(e), e);
    }
  }

  /**
   * The pool as it is now; null if there is none of the name.
   *
   * @throws IOException if it makes no sense, or nothing serves its kind
   */
  private @Nullable Pool pool(String namespace) throws IOException {
    List<GenericKubernetesResource> newer = pools(V1, namespace);
    if (newer != null && !newer.isEmpty()) {
      connection.unwatch(watch(V1ALPHA2));
      return read(newer.get(0));
    }
    List<GenericKubernetesResource> older;
    try {
      older = pools(V1ALPHA2, namespace);
    } catch (KubernetesClientException e) {
      if (newer == null || e.getCode() != HttpURLConnection.HTTP_FORBIDDEN) {
        throw e;
      }
      older = null; // a role for the newer group is enough
    }
    if (newer == null && older == null) {
      throw new IOException(
          "the API server has neither InferencePools of %s nor of %s: their CRD is not installed"
              .formatted(group(V1), group(V1ALPHA2)));
    }
    return older == null || older.isEmpty() ? null : read(older.get(0));
  }

  private static String group(ResourceDefinitionContext kind) {
    return kind.getGroup() + "/" + kind.getVersion();
  }

  private static String watch(ResourceDefinitionContext kind) {
    return kind.getPlural() + "." + kind.getGroup();
  }

  /** The pools of the name, one or none; null if the kind is not served. */
  private @Nullable List<GenericKubernetesResource> pools(
      ResourceDefinitionContext kind, String namespace) {
    return listed(
        kind,
        connection
            .client()
            .genericKubernetesResources(kind)
            .inNamespace(namespace)
            .withField("metadata.name", String.valueOf(config.pool())));
  }

  private @Nullable List<GenericKubernetesResource> listed(
      ResourceDefinitionContext kind,
      FilterWatchListDeletable<
              GenericKubernetesResource,
              GenericKubernetesResourceList,
              Resource<GenericKubernetesResource>>
          objects) {
    try {
      return connection.list(watch(kind), objects);
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND) {
        throw e;
      }
      connection.unwatch(watch(kind));
      return null;
    }
  }

  /**
   * Whether rules are to be listed. A look that no watch has asked for is that of an interval,
   * which lists all: so a pool that rolls costs lists of its pods alone.
   */
  private boolean mayHaveOtherRules(Set<String> changed) {
    return changed.isEmpty()
        || looksWithoutRules-- <= 0
        || Stream.concat(OBJECTIVES.stream(), REWRITES.stream())
            .anyMatch(kind -> changed.contains(watch(kind)));
  }

  /** The rules for this pool; one that makes no sense is refused alone. */
  private Rules rules(String namespace, List<String> refused) {
    Set<String> missing = new TreeSet<>();
    Map<String, Integer> priorities = new TreeMap<>();
    for (GenericKubernetesResource objective : ofPool(OBJECTIVES, namespace, missing)) {
      try {
        int priority = priority(objective.get("spec", "priority"));
        priorities.putIfAbsent(objective.getMetadata().getName(), priority);
      } catch (IllegalArgumentException e) {
        refused.add("InferenceObjective " + name(objective) + ": " + e.getMessage());
      }
    }
    List<GenericKubernetesResource> all = ofPool(REWRITES, namespace, missing);
    all.sort(
        Comparator.comparing(
            object -> String.valueOf(object.getMetadata().getCreationTimestamp())));
    List<Rewrite> rewrites = new ArrayList<>();
    for (GenericKubernetesResource rewrite : all) {
      try {
        rewrites.addAll(rewrites(rewrite.get("spec", "rules")));
      } catch (IllegalArgumentException e) {
        refused.add("InferenceModelRewrite " + name(rewrite) + ": " + e.getMessage());
      }
    }
    if (!missing.isEmpty() && !missing.equals(absent)) {
      LOG.info("discovery {}: works without {}, which cannot be read", config.name(), missing);
    }
    absent = missing;
    return new Rules(priorities, rewrites);
  }

  /**
   * The objects of a kind that speak of this pool, the newer group's first.
   *
   * @param missing takes the kind if neither group of it is served, or may be read
   */
  private List<GenericKubernetesResource> ofPool(
      List<ResourceDefinitionContext> kinds, String namespace, Set<String> missing) {
    List<GenericKubernetesResource> all = new ArrayList<>();
    int served = 0;
    for (ResourceDefinitionContext kind : kinds) {
      List<GenericKubernetesResource> objects;
      try {
        objects =
            listed(
                kind, connection.client().genericKubernetesResources(kind).inNamespace(namespace));
      } catch (KubernetesClientException e) {
        if (e.getCode() != HttpURLConnection.HTTP_FORBIDDEN) {
          throw e;
        }
        objects = null;
      }
      served += objects == null ? 0 : 1;
      for (GenericKubernetesResource object :
          Objects.requireNonNullElse(objects, List.<GenericKubernetesResource>of())) {
        if (String.valueOf(config.pool()).equals(object.get("spec", "poolRef", "name"))) {
          all.add(object);
        }
      }
    }
    if (served == 0) {
      missing.add(kinds.get(0).getPlural());
    }
    return all;
  }

  private static int priority(@Nullable Object given) {
    if (given == null) {
      return 0;
    }
    if (given instanceof Integer number) {
      return number;
    }
    throw new IllegalArgumentException("'spec.priority' must be an integer: " + given);
  }

  /** A rule with several matches is one for each; one without is for any model. */
  private static List<Rewrite> rewrites(@Nullable Object given) {
    List<Rewrite> rewrites = new ArrayList<>();
    List<?> rules = list(given, "spec.rules");
    for (int i = 0; i < rules.size(); i++) {
      String at = "spec.rules[" + i + "]";
      Map<?, ?> rule = rules.get(i) instanceof Map<?, ?> map ? map : Map.of();
      List<Target> targets = targets(rule.get("targets"), at + ".targets");
      List<?> matches = list(rule.get("matches"), at + ".matches");
      if (matches.isEmpty()) {
        rewrites.add(new Rewrite(null, targets));
      }
      for (int j = 0; j < matches.size(); j++) {
        rewrites.add(new Rewrite(model(matches.get(j), at + ".matches[" + j + "]"), targets));
      }
    }
    return rewrites;
  }

  private static List<?> list(@Nullable Object given, String field) {
    if (given == null) {
      return List.of();
    }
    if (given instanceof List<?> list) {
      return list;
    }
    throw new IllegalArgumentException("'" + field + "' must be a list: " + given);
  }

  private static @Nullable String model(@Nullable Object match, String field) {
    Object model = match instanceof Map<?, ?> map ? map.get("model") : null;
    if (model == null) {
      return null;
    }
    Map<?, ?> named = model instanceof Map<?, ?> map ? map : Map.of();
    Object type = named.get("type");
    if (type != null && !type.equals("Exact")) {
      throw new IllegalArgumentException(
          "'%s.model.type' must be Exact: %s".formatted(field, type));
    }
    return text(named.get("value"), field + ".model.value");
  }

  private static String text(@Nullable Object given, String field) {
    if (given instanceof String text && !text.isEmpty()) {
      return text;
    }
    throw new IllegalArgumentException("'" + field + "' must be a text: " + given);
  }

  private static List<Target> targets(@Nullable Object given, String field) {
    List<Target> targets = new ArrayList<>();
    List<?> all = list(given, field);
    for (int i = 0; i < all.size(); i++) {
      String at = field + "[" + i + "]";
      Map<?, ?> target = all.get(i) instanceof Map<?, ?> map ? map : Map.of();
      Object weight = target.containsKey("weight") ? target.get("weight") : 1;
      if (!(weight instanceof Integer number) || number < 0 || number > MAX_WEIGHT) {
        throw new IllegalArgumentException(
            "'%s.weight' must be from 0 to %d: %s".formatted(at, MAX_WEIGHT, weight));
      }
      targets.add(new Target(text(target.get("modelRewrite"), at + ".modelRewrite"), number));
    }
    if (targets.isEmpty()) {
      throw new IllegalArgumentException("'" + field + "' must not be empty");
    }
    return targets;
  }

  private static Pool read(GenericKubernetesResource pool) throws IOException {
    try {
      boolean isOlder = group(V1ALPHA2).equals(pool.getApiVersion());
      return isOlder
          ? new Pool(
              labels(pool.get("spec", "selector"), "spec.selector"),
              List.of(port(pool.get("spec", "targetPortNumber"), "spec.targetPortNumber")))
          : new Pool(
              labels(pool.get("spec", "selector", "matchLabels"), "spec.selector.matchLabels"),
              ports(pool.get("spec", "targetPorts")));
    } catch (IllegalArgumentException e) {
      throw new IOException("InferencePool " + name(pool) + ": " + e.getMessage(), e);
    }
  }

  /** Without labels a selector would mean all pods of the namespace. */
  private static Map<String, String> labels(@Nullable Object given, String field) {
    Map<String, String> labels = new TreeMap<>();
    if (given instanceof Map<?, ?> map) {
      map.forEach((key, value) -> labels.put(String.valueOf(key), String.valueOf(value)));
    }
    if (labels.isEmpty() || labels.size() > MAX_LABELS) {
      throw new IllegalArgumentException(
          "'%s' must hold 1 to %d labels: %s".formatted(field, MAX_LABELS, given));
    }
    return labels;
  }

  private static List<Integer> ports(@Nullable Object given) {
    Set<Integer> ports = new LinkedHashSet<>();
    if (given instanceof List<?> list && !list.isEmpty() && list.size() <= MAX_PORTS) {
      for (int i = 0; i < list.size(); i++) {
        String field = "spec.targetPorts[" + i + "].number";
        Object number = list.get(i) instanceof Map<?, ?> port ? port.get("number") : null;
        if (!ports.add(port(number, field))) {
          throw new IllegalArgumentException("'%s' is given twice: %s".formatted(field, number));
        }
      }
    } else {
      throw new IllegalArgumentException(
          "'spec.targetPorts' must hold 1 to %d ports: %s".formatted(MAX_PORTS, given));
    }
    return List.copyOf(ports);
  }

  private static int port(@Nullable Object given, String field) {
    if (given instanceof Number number
        && number.longValue() > 0
        && number.longValue() <= MAX_PORT) {
      return number.intValue();
    }
    throw new IllegalArgumentException("'%s' must be a port: %s".formatted(field, given));
  }

  private static boolean takesRequests(Pod pod) {
    PodStatus status = pod.getStatus();
    return pod.getMetadata().getDeletionTimestamp() == null
        && status != null
        && status.getPodIP() != null
        && !status.getPodIP().isEmpty()
        && !Set.of("Succeeded", "Failed").contains(String.valueOf(status.getPhase()))
        && status.getConditions() != null
        && status.getConditions().stream()
            .anyMatch(one -> "Ready".equals(one.getType()) && "True".equals(one.getStatus()));
  }

  /**
   * What is read of a pod: nothing for as long as it takes no requests. Of its other changes there
   * are many, deletion costs among them.
   */
  private static Object reads(Pod pod) {
    return takesRequests(pod)
        ? List.of(
            pod.getStatus().getPodIP(),
            KubernetesLook.annotations(pod),
            Optional.ofNullable(activePorts(pod)))
        : List.of();
  }

  /** Adds a replica for each port that the pod serves. */
  private void add(Found found, Pool pool, Pod pod) {
    String name = pod.getMetadata().getName();
    Map<String, String> own = KubernetesLook.annotations(pod);
    Set<String> active = activePorts(pod);
    List<Integer> ports = pool.ports();
    IntStream.range(0, ports.size())
        .filter(rank -> active == null || active.contains(ports.get(rank).toString()))
        .forEach(rank -> {
          String called = ports.size() == 1 ? name : name + "-rank-" + rank;
          String host = pod.getStatus().getPodIP();
          found.add(config.replica(), called, host, ports.get(rank), own, rank);
        });
  }

  /** The ports that its annotation names; null without one. */
  private static @Nullable Set<String> activePorts(Pod pod) {
    Map<String, String> all = pod.getMetadata().getAnnotations();
    if (all == null) {
      return null;
    }
    for (String key : ACTIVE_PORTS) {
      String ports = all.get(key);
      if (ports != null) {
        return Set.copyOf(Stream.of(ports.split(",")).map(String::strip).toList());
      }
    }
    return null;
  }

  private static String name(HasMetadata object) {
    return object.getMetadata().getNamespace() + "/" + object.getMetadata().getName();
  }

  @Override
  public void worth(Map<String, Double> seconds) {
    if (costs != null) {
      costs.update(seconds);
    }
  }

  @Override
  public void close() {
    if (costs != null) {
      costs.close();
    }
    connection.close();
  }
}
