package dev.warmpath.simulator.live;

/** The loopback ports of an engine; 0 for any that is free. */
public record Ports(int http, int events, int replay) {

  /** Any ports. */
  public static final Ports ANY = new Ports(0, 0, 0);

  public Ports {
    check("http", http);
    check("events", events);
    check("replay", replay);
  }

  private static void check(String name, int port) {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException(name + "=" + port);
    }
  }
}
