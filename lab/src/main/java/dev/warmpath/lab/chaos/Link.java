package dev.warmpath.lab.chaos;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One connection through a {@link FaultyPort}: a thread for each direction.
 *
 * <p>Thread-safe.
 */
final class Link {

  private static final int PIECE_BYTES = 16_384;
  private static final int PIECES_TO_A_BREAK = 7;
  private static final long SLOW_MILLIS = 60;
  private static final int DRAIN_MILLIS = 2_000;

  private final FaultyPort port;
  private final Socket router;
  private final Socket engine;
  private volatile boolean posts;
  private boolean betweenLines; // of the thread of responses

  Link(FaultyPort port, Socket router, Socket engine) throws IOException {
    this.port = port;
    this.router = router;
    this.engine = engine;
    router.setTcpNoDelay(true);
    engine.setTcpNoDelay(true);
  }

  /** Ends both sides as a crash does. */
  void reset() {
    linger(router);
    close();
  }

  void passRequests() {
    byte[] piece = new byte[PIECE_BYTES];
    try {
      InputStream from = router.getInputStream();
      OutputStream to = engine.getOutputStream();
      for (int n = from.read(piece); n >= 0; n = from.read(piece)) {
        EngineFault fault = port.awaitFlow();
        posts |= new String(piece, 0, Math.min(n, 5), ISO_8859_1).equals("POST ");
        if (posts && fault != null && fault.answer().length > 0) {
          answer(fault.answer());
          return;
        }
        to.write(piece, 0, n);
      }
    } catch (IOException e) {
      // one side is gone: so is the other
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      close();
    }
  }

  void passResponses() {
    byte[] piece = new byte[PIECE_BYTES];
    try {
      InputStream from = engine.getInputStream();
      int n = from.read(piece);
      while (n >= 0 && pass(piece, n, port.awaitFlow())) {
        n = from.read(piece);
      }
    } catch (IOException e) {
      // one side is gone: so is the other
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      close();
    }
  }

  /** Passes a piece of a response on; false if that was the last. */
  private boolean pass(byte[] piece, int bytes, @Nullable EngineFault fault)
      throws IOException, InterruptedException {
    OutputStream to = router.getOutputStream();
    if (posts && fault == EngineFault.SLOW) {
      TimeUnit.MILLISECONDS.sleep(SLOW_MILLIS);
    } else if (posts && fault == EngineFault.NOT_HTTP && betweenLines) {
      to.write(fault.answer());
      return false;
    } else if (posts && (fault == EngineFault.RESET || fault == EngineFault.CLOSED)) {
      int number = port.nextPiece();
      if (number % PIECES_TO_A_BREAK == 0) {
        to.write(piece, 0, number % 2 == 0 ? bytes : bytes / 2);
        breakOff(fault);
        return false;
      }
    }
    to.write(piece, 0, bytes);
    betweenLines = piece[bytes - 1] == '\n';
    return true;
  }

  private void breakOff(EngineFault fault) {
    if (fault == EngineFault.RESET) {
      linger(router);
    }
  }

  /** Answers and closes; what still comes is thrown away, or it would become a reset. */
  private void answer(byte[] bytes) throws IOException {
    router.getOutputStream().write(bytes);
    router.shutdownOutput();
    router.setSoTimeout(DRAIN_MILLIS);
    InputStream rest = router.getInputStream();
    byte[] thrownAway = new byte[PIECE_BYTES];
    while (rest.read(thrownAway) >= 0) {
      // until the router closes too
    }
  }

  private static void linger(Socket socket) {
    try {
      socket.setSoLinger(true, 0);
    } catch (SocketException e) {
      // closed before: nothing to reset
    }
  }

  private void close() {
    port.ended(this);
    for (Socket socket : new Socket[] {router, engine}) {
      try {
        socket.close();
      } catch (IOException e) {
        // it is closed all the same
      }
    }
  }
}
