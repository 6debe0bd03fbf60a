package dev.warmpath.router.cli;

import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The signal by which operators have a process read its configuration anew. */
final class Hangup {

  private static final Logger LOG = LoggerFactory.getLogger(Hangup.class);

  private Hangup() {}

  /**
   * Runs {@code work} at each SIGHUP, on a thread of its own.
   *
   * @return false where that signal is not heard: not there, or ignored since before the process
   */
  public static boolean handle(Runnable work) {
    try { // no supported way to hear signals exists, and compilers hide this one
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object handles =
          Proxy.newProxyInstance(
              handler.getClassLoader(),
              new Class<?>[] {handler},
              (proxy, method, arguments) -> {
                if (method.getName().equals("handle")) {
                  work.run();
                }
                return null;
              });
      Object before =
          signal
              .getMethod("handle", signal, handler)
              .invoke(null, signal.getConstructor(String.class).newInstance("HUP"), handles);
      return !before.equals(handler.getField("SIG_IGN").get(null));
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.warn("SIGHUP is not heard: {}", e.toString());
      return false;
    }
  }
}
