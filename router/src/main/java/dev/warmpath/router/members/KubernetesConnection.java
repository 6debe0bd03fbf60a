package dev.warmpath.router.members;

import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceList;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The connection to an API server: lists EndpointSlices, and reports changes since the last list.
 * Credentials are those of this process' pod, else of the kubeconfig.
 *
 * <p>Thread-safe.
 */
final class KubernetesConnection implements AutoCloseable {

  private static final int CONNECT_MILLIS = 3_000;
  private static final int REQUEST_MILLIS = 10_000;

  private final Supplier<Config> credentials;
  private volatile Runnable wake = () -> {};
  private volatile Set<String> listedVersions = Set.of();
  private @Nullable KubernetesClient client;
  private @Nullable Watch watch;
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

  /** Lists the EndpointSlices that have the labels, and watches them from there on. */
  EndpointSliceList slices(String namespace, String labels) {
    FilterWatchListDeletable<EndpointSlice, EndpointSliceList, Resource<EndpointSlice>> slices =
        client().discovery().v1().endpointSlices().inNamespace(namespace).withLabelSelector(labels);
    EndpointSliceList list = slices.list();
    listedVersions =
        list.getItems().stream()
            .map(slice -> slice.getMetadata().getResourceVersion())
            .collect(Collectors.toSet());
    ListOptions from =
        new ListOptionsBuilder()
            .withResourceVersion(list.getMetadata().getResourceVersion())
            .build();
    watch(slices.watch(from, new Changes()));
    return list;
  }

  private synchronized void watch(Watch next) {
    Watch before = watch;
    watch = next;
    if (before != null) {
      before.close();
    }
    if (closed) {
      next.close();
    }
  }

  @Override
  public void close() {
    KubernetesClient open;
    synchronized (this) {
      closed = true;
      open = client;
      if (watch != null) {
        watch.close();
      }
    }
    if (open != null) {
      open.close();
    }
  }

  /** Wakes the source, which lists the slices again. */
  private final class Changes implements Watcher<EndpointSlice> {
    @Override
    public void eventReceived(Action action, EndpointSlice slice) {
      boolean isListed = listedVersions.contains(slice.getMetadata().getResourceVersion());
      if (action == Action.DELETED || !isListed) {
        wake.run();
      }
    }

    @Override
    public void onClose(WatcherException cause) {
      wake.run();
    }
  }
}
