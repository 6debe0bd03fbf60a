package dev.warmpath.router.members;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The connection to an API server: lists objects, and reports changes since the last list.
 * Credentials are those of this process' pod, else of the kubeconfig.
 *
 * <p>Thread-safe.
 */
final class KubernetesConnection implements AutoCloseable {

  private static final int CONNECT_MILLIS = 3_000;
  private static final int REQUEST_MILLIS = 10_000;

  private final Supplier<Config> credentials;
  private volatile Runnable wake = () -> {};

  /** By watch, then by name: of each listed object what counts of it. */
  private final Map<String, Map<String, Object>> listed = new ConcurrentHashMap<>();

  private final Set<String> changed = ConcurrentHashMap.newKeySet();
  private final Map<String, Watch> watches = new HashMap<>();
  private @Nullable KubernetesClient client;
  private boolean closed;

  /**
   * @param credentials asked for when the server is first needed
   */
  KubernetesConnection(Supplier<Config> credentials) {
    this.credentials = credentials;
  }

  void onChange(Runnable listener) {
    wake = listener;
  }

  /**
   * The client; made when it is first needed, as that takes a while.
   *
   * @throws KubernetesClientException if there are no credentials, or if this was closed
   */
  synchronized KubernetesClient client() {
    if (closed) {
      throw new KubernetesClientException("closed");
    }
    KubernetesClient now = client;
    if (now == null) {
      now = new KubernetesClientBuilder().withConfig(limited(credentials.get())).build();
      client = now;
    }
    return now;
  }

  /** Requests fail soon and are not repeated: the next look repeats them. */
  private static Config limited(Config config) {
    return new ConfigBuilder(config)
        .withConnectionTimeout(CONNECT_MILLIS)
        .withRequestTimeout(REQUEST_MILLIS)
        .withRequestRetryBackoffLimit(0)
        .withWatchReconnectLimit(0)
        .withHttp2Disable(true)
        .build();
  }

  /** The given namespace, else the one that the credentials name. */
  String namespace(@Nullable String given) {
    return given == null ? Objects.requireNonNullElse(client().getNamespace(), "default") : given;
  }

  /** Lists the EndpointSlices that have the labels, and watches them from there on. */
  List<EndpointSlice> slices(String namespace, String labels) {
    return list(
        "endpointslices",
        client()
            .discovery()
            .v1()
            .endpointSlices()
            .inNamespace(namespace)
            .withLabelSelector(labels));
  }

  /**
   * Lists objects, and watches them from there on for any change.
   *
   * @param watch its name: it takes the place of an earlier one of that name
   */
  <T extends HasMetadata, L extends KubernetesResourceList<T>> List<T> list(
      String watch, FilterWatchListDeletable<T, L, ?> objects) {
    return list(watch, objects, object -> object.getMetadata().getResourceVersion());
  }

  /**
   * The same, for some changes only.
   *
   * @param counts what counts of an object: a change that leaves it equal is none
   */
  <T extends HasMetadata, L extends KubernetesResourceList<T>> List<T> list(
      String watch, FilterWatchListDeletable<T, L, ?> objects, Function<T, Object> counts) {
    L list = objects.list();
    listed.put(
        watch,
        list.getItems().stream()
            .collect(Collectors.toMap(object -> object.getMetadata().getName(), counts)));
    ListOptions from =
        new ListOptionsBuilder()
            .withResourceVersion(list.getMetadata().getResourceVersion())
            .build();
    watch(watch, objects.watch(from, new Changes<>(watch, counts)));
    return list.getItems();
  }

  private synchronized void watch(String name, Watch next) {
    Watch before = watches.put(name, next);
    if (before != null) {
      before.close();
    }
    if (closed) {
      next.close();
    }
  }

  /** The names of watches that have told of changes, or ended, since this was last called. */
  Set<String> takeChanges() {
    Set<String> taken = Set.copyOf(changed);
    changed.removeAll(taken);
    return taken;
  }

  /** Ends the watch of that name, if there is one. */
  synchronized void unwatch(String name) {
    Watch before = watches.remove(name);
    if (before != null) {
      before.close();
    }
  }

  @Override
  public void close() {
    KubernetesClient open;
    synchronized (this) {
      closed = true;
      open = client;
      watches.values().forEach(Watch::close);
    }
    if (open != null) {
      open.close();
    }
  }

  /** Wakes the source, which lists the objects again. */
  private final class Changes<T extends HasMetadata> implements Watcher<T> {
    private final String name;
    private final Function<T, Object> counts;

    Changes(String name, Function<T, Object> counts) {
      this.name = name;
      this.counts = counts;
    }

    @Override
    public void eventReceived(Action action, T object) {
      Object before = listed.getOrDefault(name, Map.of()).get(object.getMetadata().getName());
      if (action == Action.DELETED || !counts.apply(object).equals(before)) {
        changed.add(name);
        wake.run();
      }
    }

    @Override
    public void onClose(WatcherException cause) {
      changed.add(name);
      wake.run();
    }
  }
}
