package dev.warmpath.router;

import dev.warmpath.eventingest.Clocks;
import dev.warmpath.router.config.FileWatch;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.console.AdminContext;
import dev.warmpath.router.security.AdminKey;
import dev.warmpath.router.security.ApiKeys;
import dev.warmpath.router.security.ServerTls;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys and certificates of the router's own ports.
 *
 * @param keys that clients need; null if they need none
 * @param clientsTls of the clients' port; null for no TLS
 * @param pickerTls of the port at which gateways ask; null for no TLS
 */
record PortSecurity(
    @Nullable ApiKeys keys,
    @Nullable ServerTls clientsTls,
    @Nullable ServerTls pickerTls,
    AdminContext.Security admin) {

  private static final Logger LOG = LoggerFactory.getLogger(PortSecurity.class);

  /**
   * Reads their files.
   *
   * @throws StartException if one cannot be used; watch and Vert.x are closed then
   */
  static PortSecurity begin(RouterConfig config, FileWatch watch, Vertx vertx, Clocks clocks) {
    try {
      String keys = config.auth().keysFile();
      String adminKey = config.admin().keyFile();
      if (adminKey == null) {
        warnIfOpen(config.admin().host());
      }
      return new PortSecurity(
          keys == null ? null : ApiKeys.begin(Path.of(keys), watch, clocks.nanoClock()),
          ServerTls.begin("listen", config.listen().tls(), watch, vertx),
          pickerTls(config.picker(), watch, vertx, clocks.wallClock().instant()),
          new AdminContext.Security(
              adminKey == null ? null : AdminKey.begin(Path.of(adminKey), watch),
              ServerTls.begin("admin", config.admin().tls(), watch, vertx)));
    } catch (IOException e) {
      watch.close();
      vertx.close();
      throw new StartException(String.valueOf(e.getMessage()), e);
    }
  }

  private static @Nullable ServerTls pickerTls(
      RouterConfig.Picker picker, FileWatch watch, Vertx vertx, Instant now) throws IOException {
    if (picker.port() == 0) {
      return null;
    }
    return picker.selfSigned()
        ? ServerTls.selfSigned("picker", now, vertx)
        : ServerTls.begin("picker", picker.tls(), watch, vertx);
  }

  private static void warnIfOpen(String host) {
    try {
      if (!InetAddress.getByName(host).isLoopbackAddress()) {
        LOG.warn(
            "ADMIN PORT WITHOUT A KEY: whoever reaches {} may add and remove replicas and read the"
                + " fleet's state; set admin.key-file, or admin.host to 127.0.0.1",
            host);
      }
    } catch (UnknownHostException e) {
      LOG.debug("host={} is unknown, which listening will say", host);
    }
  }

  /** The certificates that are shown. */
  List<ServerTls> certificates() {
    return Stream.of(clientsTls, pickerTls, admin.tls()).filter(Objects::nonNull).toList();
  }
}
