/** The monitor: who somebody is, and then the view that the address names. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { io } from "socket.io-client";
import type { Me } from "../generated/monitor";
import type { Api } from "./api";
import type { Clock } from "./clock";
import { MonitorContext, type Monitor } from "./context";
import { FlagBook } from "./flags";
import { Guard } from "./Guard";
import { Live } from "./live";
import { Button } from "./parts/Button";
import { Skeleton } from "./parts/Loaded";
import { hrefOf, nextOf, pathOf, placeOf, pressedLink, type Place, type Router } from "./router";
import { Shell } from "./Shell";
import { useStore } from "./store";
import { t } from "./texts";
import { Toasts } from "./toasts";
import { DialogView } from "./views/Dialog";
import { DialogsView } from "./views/Dialogs";
import { LogView } from "./views/Log";
import { MissingView } from "./views/Missing";
import { MoneyView } from "./views/Money";
import { NowView } from "./views/Now";
import { ReviewView } from "./views/Review";
import { SignInView } from "./views/SignIn";
import { StudyView } from "./views/Study";
import { WorkerView } from "./views/Worker";
import { WorkersView } from "./views/Workers";

interface Props {
  api: Api;
  clock: Clock;
  router: Router;
  open?: typeof io;
}

type Entry = { at: "loading" } | { at: "unreachable"; error: string } | { at: "out" } | { at: "in"; me: Me };

export function App({ api, clock, router, open }: Props) {
  const [entry, setEntry] = useState<Entry>({ at: "loading" });
  const at = useStore(router.at);

  const enter = (me: Me) => {
    setEntry({ at: "in", me });
    if (placeOf(router.at.value).view === "sign-in") router.replace(nextOf(router.at.value));
  };
  const leave = () => {
    setEntry({ at: "out" });
    const here = router.at.value;
    if (placeOf(here).view !== "sign-in") router.replace(hrefOf("/sign-in", { next: here }));
  };
  const ask = async () => {
    setEntry({ at: "loading" });
    // Who comes to sign in is not signed in, as a rule.
    const answer = await (placeOf(router.at.value).view === "sign-in" ? api.signedIn() : api.me());
    if (answer.ok && answer.value === null) leave();
    else if (answer.ok && answer.value !== null) enter(answer.value);
    else if (!answer.ok && answer.status !== 401) setEntry({ at: "unreachable", error: answer.error });
    else leave();
  };
  useEffect(() => {
    api.onSignedOut = leave;
    void ask();
  }, []);

  if (entry.at === "in") {
    return <Inside key={entry.me.csrf} me={entry.me} {...{ api, clock, router, open }} at={at} onLeave={leave} />;
  }
  if (entry.at === "out") return <SignInView api={api} onEnter={enter} />;
  return (
    <main class="door">
      <h1>{t.brand}</h1>
      {entry.at === "loading" ? (
        <Skeleton lines={3} />
      ) : (
        <div class="note note-bad" role="alert">
          <p>{entry.error}</p>
          <Button testid="enter-again" onPress={() => void ask()}>
            {t.common.again}
          </Button>
        </div>
      )}
    </main>
  );
}

interface InsideProps extends Omit<Props, "open"> {
  open: typeof io | undefined;
  me: Me;
  at: string;
  onLeave: () => void;
}

function Inside({ api, clock, router, open, me, at, onLeave }: InsideProps) {
  const monitor = useMemo<Monitor>(() => {
    const live = new Live(() => api.csrf, clock, open);
    return { api, clock, router, me, live, toasts: new Toasts(), flags: new FlagBook() };
  }, []);
  useEffect(() => {
    const { live } = monitor;
    live.onSignedOut = onLeave;
    // How the study stands is shown even where no live connection can be made.
    void api.now().then((now) => now.ok && live.now.value === null && live.now.set(now.value));
    void api.flags().then((answer) => answer.ok && monitor.flags.take(answer.value.flags));
    return () => live.close();
  }, []);
  const place = placeOf(at);
  return (
    <MonitorContext.Provider value={monitor}>
      <div
        class="monitor"
        onClick={(event) => {
          const href = pressedLink(event);
          if (href === null) return;
          event.preventDefault();
          const other = placeOf(href).view !== placeOf(router.at.value).view;
          router.go(href);
          if (other) scrollTo(0, 0);
        }}
      >
        <Shell place={place} onLeave={onLeave}>
          <Guard key={pathOf(at)}>
            <View place={place} />
          </Guard>
        </Shell>
      </div>
    </MonitorContext.Provider>
  );
}

function View({ place }: { place: Place }) {
  switch (place.view) {
    case "now":
      return <NowView />;
    case "dialogs":
      return <DialogsView />;
    case "dialog":
      return <DialogView key={place.id} id={place.id} />;
    case "review":
      return <ReviewView />;
    case "workers":
      return <WorkersView />;
    case "worker":
      return <WorkerView key={place.id} id={place.id} />;
    case "money":
      return <MoneyView />;
    case "study":
      return <StudyView />;
    case "log":
      return <LogView />;
    case "sign-in":
      return null;
    case "missing":
      return <MissingView />;
  }
}
