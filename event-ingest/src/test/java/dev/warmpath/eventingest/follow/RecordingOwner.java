package dev.warmpath.eventingest.follow;

import dev.warmpath.eventingest.wire.StreamMessage;
import java.util.ArrayList;
import java.util.List;

/** Keeps what it is given. */
final class RecordingOwner implements EngineRing.Owner {

  final List<StreamMessage> heard = new ArrayList<>();
  final List<Throwable> thrown = new ArrayList<>();

  @Override
  public void live(StreamMessage batch) {
    heard.add(batch);
  }

  @Override
  public void failed(Throwable what) {
    thrown.add(what);
  }
}
