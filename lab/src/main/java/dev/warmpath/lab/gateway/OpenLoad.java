package dev.warmpath.lab.gateway;

import io.netty.buffer.ByteBuf;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/**
 * What one load is to do.
 *
 * @param targets addresses, which get the requests in turns
 * @param requests in the order in which they are due
 * @param streamed whether answers must end as an event stream does
 * @param limit time from the instant at which a request is due until it has failed
 */
record OpenLoad(
    List<InetSocketAddress> targets,
    List<ByteBuf> requests,
    boolean streamed,
    double perSecond,
    Duration limit) {

  OpenLoad {
    targets = List.copyOf(targets);
    requests = List.copyOf(requests);
    if (targets.isEmpty() || requests.isEmpty()) {
      throw new IllegalArgumentException("targets=" + targets + " requests=" + requests.size());
    }
  }
}
